"""A process with hundreds of leases has descriptors beyond 1024, with which ``select`` fails."""

from __future__ import annotations

import ast
import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock.engine.carriers.encryption import Certificate
from penstock.engine.carriers.hub import Hub
from penstock.engine.carriers.link import Link
from penstock.engine.lease.topic_reader import TopicReader
from penstock.kafka.clients import Connection
from penstock.kafka.transactions import Transactions
from penstock.plugins.files import file_events
from penstock.plugins.files.file_events import FileEvents
from played_brokers import played_brokers
from played_carriers import PlayedCarrier
from waiting import eventually

LAST_OF_SELECT = 1023
SOURCES = Path(penstock.__file__).parent
OF_ITS_OWN = {"embedded/watchdog.py"}
"""A process that has a handful of descriptors."""


@pytest.fixture
def crowded() -> Iterator[None]:
    """Whatever is opened now has a descriptor beyond 1023."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert before[1] > 2 * LAST_OF_SELECT
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    opened = [os.open(os.devnull, os.O_RDONLY)]
    while opened[-1] <= LAST_OF_SELECT:
        opened.append(os.dup(opened[0]))
    yield
    for each in opened:
        os.close(each)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_carrier_and_its_worker_talk(*, crowded: None, encrypted: bool) -> None:
    certificate = Certificate() if encrypted else None
    hub = Hub("127.0.0.1", encrypt=certificate.encrypt if certificate else None)
    reports: dict[str, object] = {}
    link = Link(dict, lambda _link, news: reports.update(news.reports))
    hub.expect(link)
    carrier = PlayedCarrier(hub, link, certificate=certificate.pem if certificate else "")
    assert hub._listener.fileno() > LAST_OF_SELECT
    link.book.give("l1", {})
    eventually(lambda: len(carrier.holdings) == 1)
    channel = link._channel
    assert channel is not None
    channel.close()  # so that they connect once more
    eventually(lambda: link.connected and link._channel is not channel)
    link.book.finish("l1")
    link.tell()
    eventually(lambda: reports == {"l1": "finished"})
    assert link.book.end()
    link.tell()
    eventually(lambda: carrier.ended)
    hub.close()


def test_the_clients_of_a_lease_move_records(*, crowded: None) -> None:
    with played_brokers(1) as servers:
        connection = Connection(servers, few_brokers=True)
        producer = Transactions(connection, "high")
        producer.send("t", b"value", b"key", partition=0)
        producer.commit([], [])
        reader = TopicReader(connection, {("t", 0): 0})
        [batch] = eventually(lambda: reader.read(10, 0.1))
        reader.close()
    assert batch.column("value").to_pylist() == [b"value"]


def test_the_system_tells_of_changed_files(
    *, crowded: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(file_events, "PAUSE_MILLISECONDS", 20)
    (file := tmp_path / "in.txt").write_text("")
    events, rung = FileEvents(), threading.Event()
    assert events.arm(str(file), rung.set) is not None
    assert events._descriptor is not None
    assert events._descriptor > LAST_OF_SELECT
    file.write_text("a line\n")
    assert rung.wait(10)
    eventually(lambda: events._descriptor is None)


def test_nothing_that_leases_use_calls_select() -> None:
    using = {
        str(file.relative_to(SOURCES))
        for file in SOURCES.rglob("*.py")
        if any(_selects(node) for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    }
    assert using == OF_ITS_OWN


def _selects(node: ast.AST) -> bool:
    """``select.select``, also by the names that the standard library gives it."""
    if isinstance(node, ast.ImportFrom):
        imported = {name.name for name in node.names}
        return (node.module == "select" and "select" in imported) or node.module == "selectors"
    if isinstance(node, ast.Import):
        return any(name.name in ("selectors", "asyncore", "telnetlib") for name in node.names)
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "select.select"
