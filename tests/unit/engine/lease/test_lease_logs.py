"""What a lease logs arrives in its worker, over a real heartbeat; and levels come back."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.engine.driver import watches
from penstock.engine.driver.watches import HeartbeatServer, TurnWatch
from penstock.engine.lease import heartbeats, lease_logs
from penstock.engine.lease.heartbeats import Heartbeat, beating
from penstock.engine.lease.lease import HeartbeatAddress, Lease, Limits
from penstock.engine.lease.lease_logs import LINES_PER_BEAT, WAITING_LINES, LeaseLog, logged
from penstock.logs.forms import TextForm
from penstock.logs.levels import Levels, in_use, use
from waiting import eventually

QUICK = Limits(heartbeat_seconds=0.05, unanswered_seconds=30.0)
RARE = Limits(heartbeat_seconds=30.0, unanswered_seconds=30.0)
DEBUG, INFO, WARN = logging.DEBUG, logging.INFO, logging.WARNING
author = logging.getLogger("authors_connector")

pytestmark = pytest.mark.usefixtures("fresh_levels")


class Arrived:
    """Stands where the worker's log does: both ends share one process here, and one root logger."""

    def __init__(self) -> None:
        self.records: list[logging.LogRecord] = []

    def take(self, line: Any) -> None:
        self.records.append(logging.makeLogRecord(line))

    @property
    def lines(self) -> list[str]:
        return [record.getMessage() for record in self.records]


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> Arrived:
    worker = Arrived()
    monkeypatch.setattr(watches, "tell", worker.take)
    # On a busy machine the last lines would otherwise go to stderr instead.
    monkeypatch.setattr(heartbeats, "CLOSE_SECONDS", 30.0)
    # Not what threads of other tests log meanwhile: a worker of theirs may live in this process.
    keeps = LeaseLog.filter
    monkeypatch.setattr(
        LeaseLog, "filter", lambda self, record: record.name == author.name and keeps(self, record)
    )
    return worker


@pytest.fixture
def server() -> Iterator[HeartbeatServer]:
    listening = HeartbeatServer()
    yield listening
    listening.close()


def lease(levels: Levels | None = None) -> Lease:
    order = {"connector": "orders", "task": 2, "secrets": ("hunter2",)}
    return cast(Lease, SimpleNamespace(**order, log_levels=levels or Levels()))


@contextmanager
def running(
    server: HeartbeatServer, levels: Levels | None = None, limits: Limits = QUICK
) -> Iterator[Heartbeat]:
    turn = TurnWatch(limits)
    turn.begin()
    server.watch("a", turn)
    with (
        logged(lease(levels)) as lines,
        beating(server.address, "a", limits, lines) as heartbeat,
    ):
        yield heartbeat


def test_lines_arrive_while_the_lease_runs(server: HeartbeatServer, arrived: Arrived) -> None:
    with running(server):
        author.debug("not wanted")
        author.warning("100%% of %s with hunter2", "it")
        try:
            raise ValueError("no luck with hunter2")
        except ValueError:
            author.exception("it failed")
        eventually(lambda: len(arrived.records) == 2, within=30)
    first, second = arrived.records
    assert first.getMessage() == "100% of it with [hidden]"
    assert (first.name, first.levelno) == ("authors_connector", WARN)
    assert (first.__dict__["connector"], first.__dict__["task"]) == ("orders", 2)
    assert second.exc_text
    assert second.exc_text.endswith("ValueError: no luck with [hidden]")


@pytest.mark.parametrize("limits", [QUICK, RARE])
def test_the_last_words_of_a_lease_arrive(
    server: HeartbeatServer, arrived: Arrived, limits: Limits
) -> None:
    with running(server, limits=limits):
        author.warning("goodbye")
    eventually(lambda: arrived.lines == ["goodbye"], within=30)


def test_a_lease_that_logs_without_end_loses_lines_and_says_how_many(
    server: HeartbeatServer, arrived: Arrived
) -> None:
    total = 20 * WAITING_LINES
    with running(server, limits=RARE):
        for number in range(total):
            author.info("%d", number)

    def counted() -> tuple[int, int]:
        lines = arrived.lines
        notes = [line for line in lines if "were dropped" in line]
        return sum(int(note.split()[0]) for note in notes), len(lines) - len(notes)

    eventually(lambda: sum(counted()) == total, within=30, what="all lines, sent or dropped")
    dropped, kept = counted()
    assert dropped > 0
    assert WAITING_LINES <= kept <= 2 * WAITING_LINES
    assert arrived.lines[:3] == ["0", "1", "2"]


def test_a_beat_takes_a_part_of_many_lines() -> None:
    log = LeaseLog("orders", 0)
    for _ in range(2 * LINES_PER_BEAT):
        log.handle(author.makeRecord("x", WARN, "", 0, "line", (), None))
    assert len(log.take()) == LINES_PER_BEAT
    assert len(log.take(WAITING_LINES)) == LINES_PER_BEAT
    assert log.take() == []


def test_texts_are_cut() -> None:
    log = LeaseLog("orders", 0)
    log.handle(author.makeRecord("x", WARN, "", 0, "y" * 10**6, (), None))
    [line] = log.take()
    assert line["msg"] == "y" * lease_logs.LONGEST_TEXT


def test_a_lease_begins_with_its_connector_s_level(
    server: HeartbeatServer, arrived: Arrived
) -> None:
    # The worker's own filter is not in this test: everything that is sent arrives.
    with running(server, Levels().changed("connector.orders", DEBUG)):
        author.debug("wanted")
    eventually(lambda: arrived.lines == ["wanted"], within=30)
    with running(server, Levels().changed("connector.others", DEBUG)):
        author.debug("not wanted")
        author.info("info")
    eventually(lambda: arrived.lines == ["wanted", "info"], within=30)


def test_a_running_lease_hears_of_changed_levels(server: HeartbeatServer) -> None:
    """Seen from the lease: it shares its process with the worker here, so levels are put back."""
    with running(server) as heartbeat:
        newer = in_use().changed("connector.orders", DEBUG)
        heartbeat._hear(b"go on\nfini")
        heartbeat._hear(b"sh?\n" + _levels(newer))
        assert not heartbeat.finish.is_set()
        assert in_use().root == DEBUG
        assert author.isEnabledFor(DEBUG)
        heartbeat._hear(b"finish\n")
        assert heartbeat.finish.is_set()


def _levels(levels: Levels) -> bytes:
    return json.dumps(levels.to_json()).encode() + b"\n"


def test_the_worker_answers_with_levels_only_where_they_differ(server: HeartbeatServer) -> None:
    use(in_use().changed("a.b", DEBUG))
    turn = TurnWatch(QUICK)
    turn.begin()
    server.watch("a", turn)

    def answer(**known: Any) -> bytes:
        beat = {"token": server.address.token, "lease": "a", **known}
        return server.answer(cast(Any, None), json.dumps(beat).encode()) or b""

    assert answer(levels=in_use().version) == b"go on\n"
    assert answer() == b"go on\n"
    assert answer(levels=0) == b"go on\n" + _levels(in_use())


def test_lines_that_nobody_takes_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = HeartbeatAddress("127.0.0.1", 1, "token")
    with logged(lease()) as lines, beating(nowhere, "a", QUICK, lines):
        author.warning("nobody hears with hunter2")
    printed = capsys.readouterr().err
    assert "WARN [orders|task-2] authors_connector: nobody hears with [hidden]" in printed


def test_a_line_from_a_lease_goes_to_the_worker_s_handlers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = LeaseLog("orders", 1)
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
