"""Clients end on the reaper's thread, whoever drops them, and nowhere else are they made."""

from __future__ import annotations

import ast
import gc
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import penstock
from free_ports import free_port
from penstock.kafka import client_life, clients, reaper
from penstock.kafka.client_life import Owned, OwnedAdmin, OwnedConsumer, OwnedProducer
from penstock.kafka.clients import Connection
from penstock.kafka.column_consumer import ColumnConsumer
from waiting import eventually

SOURCES = Path(penstock.__file__).parent
CONSTRUCTORS = {
    "AIOConsumer",
    "AIOProducer",
    "AdminClient",
    "Consumer",
    "DeserializingConsumer",
    "Producer",
    "SerializingProducer",
}


def test_no_other_module_makes_a_client() -> None:
    making = {
        str(file.relative_to(SOURCES))
        for file in SOURCES.rglob("*.py")
        if list(_made_in(ast.parse(file.read_text(encoding="utf-8"))))
    }
    # A plugin may import nothing but the sdk: it closes its clients itself, on their thread.
    assert making == {"kafka/client_life.py", "plugins/mirror/cluster_clients.py"}


def _made_in(tree: ast.AST) -> Iterator[str]:
    """Classes of confluent_kafka that are called or derived from."""
    imported = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("confluent_kafka")
        for name in node.names
        if name.name in CONSTRUCTORS
    }
    for node in ast.walk(tree):
        used = [node.func] if isinstance(node, ast.Call) else getattr(node, "bases", [])
        yield from (each.id for each in used if isinstance(each, ast.Name) and each.id in imported)
        yield from (
            each.attr
            for each in used
            if isinstance(each, ast.Attribute)
            and each.attr in CONSTRUCTORS
            and isinstance(each.value, ast.Name)
            and each.value.id in ("confluent_kafka", "admin", "cimpl")
        )


def test_the_library_itself_makes_only_what_is_owned() -> None:
    calling = [
        file.relative_to(SOURCES)
        for file in SOURCES.rglob("*.py")
        if "call.new(" in file.read_text(encoding="utf-8")
    ]
    assert calling == [Path("kafka/raw_consumer.py")]
    assert issubclass(ColumnConsumer, Owned)


class Noted(Owned):
    """No client, but ended like one."""

    goes_with_memory = False

    def __init__(self, ends: list[str]) -> None:
        self._ends = ends
        self.other: Any = None
        self.born({})

    def end(self) -> None:
        self._ends.append(threading.current_thread().name)


def test_what_is_dropped_ends_on_the_reapers_thread() -> None:
    ends: list[str] = []
    Noted(ends)
    eventually(lambda: ends == ["client-reaper"], what="its end")


def test_what_is_part_of_a_cycle_ends_there_too() -> None:
    ends: list[str] = []
    one, other = Noted(ends), Noted(ends)
    one.other, other.other = other, one
    del one, other
    gc.collect()
    eventually(lambda: ends == ["client-reaper"] * 2, what="their ends")


def test_what_has_ended_is_not_ended_again() -> None:
    ends: list[str] = []
    ended = Noted(ends)
    ended.ended()
    del ended
    Noted(ends)
    eventually(lambda: len(ends) == 1, what="the end of the other")


def test_one_that_cannot_be_ended_does_not_keep_the_reaper_from_others() -> None:
    class Stubborn(Noted):
        def end(self) -> None:
            raise RuntimeError("no")

    ends: list[str] = []
    Stubborn(ends)
    Noted(ends)
    eventually(lambda: ends == ["client-reaper"], what="the end of the other")


@pytest.mark.parametrize("kind", ["admin", "producer", "reader"])
def test_threads_of_a_dropped_client_end(kind: str) -> None:
    """Also if it is part of a cycle, as clients are whose error was raised and kept."""
    reaper.reaper().ensure()
    before = _threads()
    client: Any = getattr(clients, kind)(Connection(f"127.0.0.1:{free_port()}"))
    if kind == "producer":
        client.produce("nowhere", b"never sent")
    cycle: list[Any] = [client]
    cycle.append(cycle)
    its_own = _threads() - before
    assert its_own
    del client, cycle
    gc.collect()
    eventually(lambda: not its_own & _threads(), what="the end of its threads")


def test_a_fork_leaves_clients_to_its_parent() -> None:
    reaper.reaper().ensure()
    before = _threads()
    admin = clients.admin(Connection(f"127.0.0.1:{free_port()}"))
    its_own = _threads() - before
    child = multiprocessing.get_context("fork").Process(target=gc.collect)
    child.start()
    child.join(30)
    assert child.exitcode == 0
    assert its_own & _threads()
    del admin
    eventually(lambda: not its_own & _threads(), what="the end of its threads")


def test_a_process_ends_at_once_with_clients_that_nobody_closed() -> None:
    program = (
        "from penstock.kafka import clients; c = clients.Connection('127.0.0.1:1');"
        "kept = [clients.admin(c), clients.producer(c), clients.reader(c)];"
        "kept[1].produce('nowhere', b''); clients.admin(c).describe_cluster(); kept.append(kept)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_importing_clients_starts_no_thread() -> None:
    """Spark's Python daemon imports them, and forks."""
    program = (
        "import threading, penstock.engine.lease.sink_lease, penstock.engine.lease.source_lease;"
        "print(threading.active_count())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "1\n"


def _threads() -> set[str]:
    return {each.name for each in Path("/proc/self/task").iterdir()}


def _of_every_kind(connection: Connection) -> list[Owned]:
    settings = clients.reader_settings(connection)
    return [
        OwnedAdmin(connection.settings()),
        OwnedProducer(connection.settings()),
        OwnedConsumer(settings),
        ColumnConsumer(settings, {("t", 0): 0}, timestamps=False),
    ]


def test_clients_of_every_kind_can_be_reminded_of_their_brokers() -> None:
    for client in _of_every_kind(Connection(f"127.0.0.1:{free_port()}")):
        assert client.handle() is not None
        client.remind()


def test_a_client_that_is_being_closed_is_not_touched() -> None:
    for client in _of_every_kind(Connection(f"127.0.0.1:{free_port()}")):
        client.closing()
        client.handle = Mock(side_effect=AssertionError)  # type: ignore[method-assign]  # a spy
        client.remind()
        client_life.remind_clients()
