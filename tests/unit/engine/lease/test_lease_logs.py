"""What leases log waits for the next message to their worker; and levels come back."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.engine.lease import lease_logs
from penstock.engine.lease.lease import Lease
from penstock.engine.lease.lease_logs import (
    LINES_PER_MESSAGE,
    WAITING_LINES,
    ProcessLog,
    change_levels,
    logged,
    process_log,
)
from penstock.logs.forms import TextForm
from penstock.logs.levels import in_use

DEBUG, WARN = logging.DEBUG, logging.WARNING
author = logging.getLogger("authors_connector")

pytestmark = pytest.mark.usefixtures("fresh_levels")


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessLog]:
    # Not what threads of other tests log meanwhile: a worker of theirs may live in this process.
    keeps = ProcessLog.filter
    monkeypatch.setattr(
        ProcessLog,
        "filter",
        lambda self, record: record.name == author.name and keeps(self, record),
    )
    with process_log() as lines:
        yield lines
        lines.take(WAITING_LINES)


def lease(connector: str = "orders", task: int = 2, hidden: str = "hunter2") -> Lease:
    return cast(Lease, SimpleNamespace(connector=connector, task=task, secrets=(hidden,)))


def test_a_line_says_whose_it_is_and_hides_secrets(lines: ProcessLog) -> None:
    with logged(lease()):
        author.debug("not wanted")
        author.warning("100%% of %s with hunter2", "it")
        try:
            raise ValueError("no luck with hunter2")
        except ValueError:
            author.exception("it failed")
    first, second = lines.take()
    assert first["msg"] == "100% of it with [hidden]"
    assert (first["name"], first["levelno"]) == ("authors_connector", WARN)
    assert (first["connector"], first["task"]) == ("orders", 2)
    assert second["exc_text"].endswith("ValueError: no luck with [hidden]")


def test_leases_that_run_at_once_have_their_own_lines(lines: ProcessLog) -> None:
    meeting = threading.Barrier(2)

    def run(each: Lease) -> None:
        with logged(each):
            meeting.wait(20)
            author.warning("hunter2 and swordfish")
            meeting.wait(20)

    both = lease(), lease("clicks", 0, "swordfish")
    threads = [threading.Thread(target=run, args=(each,)) for each in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    found = {(line["connector"], line["task"], line["msg"]) for line in lines.take()}
    assert found == {
        ("orders", 2, "[hidden] and swordfish"),
        ("clicks", 0, "hunter2 and [hidden]"),
    }


def test_a_line_of_no_lease_hides_everybodys_secrets(lines: ProcessLog) -> None:
    with logged(lease()), logged(lease("clicks", 0, "swordfish")):
        thread = threading.Thread(target=author.warning, args=("hunter2 and swordfish",))
        thread.start()
        thread.join(20)
    [line] = lines.take()
    assert (line["connector"], line["msg"]) == (None, "[hidden] and [hidden]")


def test_leases_of_a_connector_hide_each_others_secrets(lines: ProcessLog) -> None:
    with logged(lease()), logged(lease(task=1, hidden="swordfish")):
        author.warning("hunter2 and swordfish")
    assert [line["msg"] for line in lines.take()] == ["[hidden] and [hidden]"]


def test_who_logs_without_end_loses_lines_and_the_worker_hears_how_many() -> None:
    log, total = ProcessLog(), 2 * WAITING_LINES
    for number in range(total):
        log.handle(author.makeRecord("x", WARN, "", 0, str(number), (), None))
    *kept, note = log.take(WAITING_LINES)
    assert [line["msg"] for line in kept[:3]] == ["0", "1", "2"]
    assert len(kept) == WAITING_LINES
    assert note["msg"].startswith(f"{total - WAITING_LINES} log lines of tasks were dropped")


def test_a_message_takes_a_part_of_many_lines() -> None:
    log = ProcessLog()
    for _ in range(2 * LINES_PER_MESSAGE):
        log.handle(author.makeRecord("x", WARN, "", 0, "line", (), None))
    assert len(log.take()) == LINES_PER_MESSAGE
    assert len(log.take(WAITING_LINES)) == LINES_PER_MESSAGE
    assert log.take() == []


def test_texts_are_cut() -> None:
    log = ProcessLog()
    log.handle(author.makeRecord("x", WARN, "", 0, "y" * 10**6, (), None))
    [line] = log.take()
    assert line["msg"] == "y" * lease_logs.LONGEST_TEXT


def test_each_connector_has_its_level(lines: ProcessLog) -> None:
    newer = in_use().changed("connector.orders", DEBUG)
    change_levels(json.loads(json.dumps(newer.to_json())))
    assert in_use() == newer
    with logged(lease()):
        author.debug("wanted")
    with logged(lease("clicks")):
        author.debug("not wanted")
    assert [line["msg"] for line in lines.take()] == ["wanted"]


def test_levels_that_are_known_already_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_logs, "use", lambda _: pytest.fail("nothing has changed"))
    change_levels(in_use().to_json())


def test_lines_that_nobody_takes_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with process_log(), logged(lease()):
        author.warning("nobody hears with hunter2")
    printed = capsys.readouterr().err
    assert "WARN [orders|task-2] authors_connector: nobody hears with [hidden]" in printed


def test_a_line_from_a_lease_goes_to_the_worker_s_handlers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = ProcessLog()
    with logged(lease(task=1)):
        log.handle(author.makeRecord("never.heard.of.here", WARN, "", 0, "100%", (), None))
    for line in log.take():
        lease_logs.tell(json.loads(json.dumps(line)))
    [record] = caplog.records
    assert (record.name, record.getMessage()) == ("never.heard.of.here", "100%")
    assert TextForm().format(record).endswith("WARN [orders|task-1] never.heard.of.here: 100%")
    assert "never.heard.of.here" not in logging.root.manager.loggerDict


@pytest.mark.parametrize("line", [None, 5, "text", []])
def test_what_is_no_line_is_ignored(line: Any, caplog: pytest.LogCaptureFixture) -> None:
    lease_logs.tell(line)
    assert caplog.records == []
