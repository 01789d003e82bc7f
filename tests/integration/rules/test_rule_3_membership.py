"""Rule 3: every transaction is committed under the worker's membership of its group."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from files import write_lines
from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from penstock.engine.lease import lease_loop
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import End, Limits, Membership, Report
from penstock.engine.lease.pace import LEAST
from penstock.engine.lease.source_lease import SourceLoop
from penstock.kafka.clients import Connection
from source_leases import lease_of, run_lease
from topics import Topics, numbers_of
from waiting import eventually
from worker_process import WorkerProcess


def test_a_lease_of_a_worker_that_has_left_its_group_cannot_commit(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    """The producer's own fencing does not help: made anew, this one is the newest.

    Only the membership of the transaction tells the broker that the worker has been replaced.
    """
    connection, file = Connection(broker.bootstrap_servers), tmp_path / "in.txt"
    # So much that it is sent before the commit begins: less would be dropped with the transaction.
    write_lines(file, 100, 2 * LEAST // 100)
    topics.create(name)
    topics.create(f"{name}-offsets")
    with _member(connection, name) as metadata:
        membership = Membership(metadata, name)
        limits = Limits(lease_seconds=4.0)
        first = run_lease(connection, name, file, membership=membership, limits=limits)
        assert first.end is End.DONE, first.trace
    second = run_lease(connection, name, file, membership=membership, limits=limits)
    assert second.end is End.LOST, second.trace
    assert "UNKNOWN_MEMBER_ID" in second.trace
    assert len(topics.messages(name, committed=False)) == 200, "it has written, but not committed"
    assert topics.values(name) == file.read_text().splitlines()


def test_a_running_lease_goes_on_under_a_new_generation(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Its producer is older than the generation: whoever takes over fences it."""
    connection, file = Connection(broker.bootstrap_servers), tmp_path / "in.txt"
    write_lines(file, 100, 20)
    topics.create(name)
    topics.create(f"{name}-offsets")
    reports: list[Report] = []
    with _Member(connection, name) as worker:
        given = worker.membership
        heartbeat = Heartbeat(standing=lambda: worker.membership)
        limits = Limits(lease_seconds=300.0)
        lease = lease_of(connection, name, file, membership=given, limits=limits)
        running = threading.Thread(
            target=lambda: reports.append(lease_loop.run(lease, SourceLoop, heartbeat)), daemon=True
        )
        running.start()
        eventually(lambda: len(topics.values(name)) == 100, within=60, what="the first records")

        with _Member(connection, name):
            eventually(lambda: worker.membership != given, within=60, what="the new generation")
            with file.open("a") as more:
                more.writelines(f"line {number}\n" for number in range(100))
            eventually(lambda: len(topics.values(name)) == 200, within=60, what="the others")
            heartbeat.finish.set()
            running.join(60)
    [report] = reports
    assert report.end is End.DONE, report.trace
    assert topics.values(name) == file.read_text().splitlines()


class _Member:
    """A member of the group, with its membership in the current generation."""

    def __init__(self, connection: Connection, group: str) -> None:
        settings = {"group.id": group, "group.protocol": "classic", "session.timeout.ms": 10_000}
        self._consumer = Consumer({**connection.settings(), **settings})
        self._group = group
        self._known: Membership | None = None
        self._left = threading.Event()
        self._polling = threading.Thread(target=self._poll, daemon=True)

    @property
    def membership(self) -> Membership:
        assert self._known is not None
        return self._known

    def __enter__(self) -> _Member:
        self._consumer.subscribe([self._group], on_assign=self._joined)
        self._polling.start()
        eventually(lambda: self._known is not None, within=60, what="the membership")
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._polling.join(30)
        self._consumer.close()

    def _joined(self, consumer: Consumer, _partitions: object) -> None:
        self._known = Membership(consumer.consumer_group_metadata(), self._group)

    def _poll(self) -> None:
        while not self._left.is_set():
            self._consumer.poll(0.1)


@contextmanager
def _member(connection: Connection, group: str) -> Iterator[bytes]:
    """The metadata of a member of the group, which leaves it at the end."""
    settings = {"group.id": group, "group.protocol": "classic", "session.timeout.ms": 10_000}
    consumer = Consumer({**connection.settings(), **settings})
    consumer.subscribe([group])
    try:

        def joined() -> bool:
            consumer.poll(0.1)
            return bool(consumer.assignment())

        eventually(joined, within=60, what="the membership")
        yield consumer.consumer_group_metadata()
    finally:
        consumer.close()


@pytest.mark.heavy
def test_a_worker_frozen_for_longer_than_its_session_and_thawed(
    tmp_path: Path, broker: EmbeddedBroker, topics: Topics, name: str
) -> None:
    """Its lease is about to begin when it is replaced, and its carrier gets no more answers."""
    topics.create(name)
    limit, hold = tmp_path / "limit", tmp_path / "hold"
    limit.write_text("100")
    hold.touch()
    frozen = _worker(tmp_path / "frozen", broker, name, {"PENSTOCK_TEST_HOLD": str(hold)})
    heir = _worker(tmp_path / "heir", broker, name, {})
    config = {"connector.class": "HeldSource", "topic": name, "limit.file": str(limit)}
    try:
        frozen.start()
        frozen.client.create(name, config)
        eventually(Path(f"{hold}.held").exists, within=180, what="a lease about to begin")
        heir.start()
        frozen.send(signal.SIGSTOP)
        eventually(lambda: len(topics.values(name)) == 100, within=180, what="the heir's records")

        hold.unlink()
        frozen.send(signal.SIGCONT)
        insight = "the frozen worker's insight"
        eventually(lambda: "no longer the leader" in frozen.log(), within=120, what=insight)
        limit.write_text("200")
        eventually(lambda: len(topics.values(name)) >= 200, within=90, what="the heir's rest")
        assert numbers_of(topics.values(name), 0) == list(range(200))
    finally:
        frozen.close()
        heir.close()


def _worker(
    folder: Path, broker: EmbeddedBroker, name: str, environment: dict[str, str]
) -> WorkerProcess:
    return WorkerProcess(
        folder,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "session.timeout.ms": "6000"},
        environment=environment,
    )
