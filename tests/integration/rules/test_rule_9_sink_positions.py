"""Rule 9: sink positions never expire or go back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from free_ports import free_port
from group_offsets import set_offsets
from own_cluster import own_topics
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.kafka import groups
from penstock.runtime.running.sink_runner import SinkRunner
from penstock.runtime.stores.position_copies import PARTITIONS
from penstock.runtime.worker import Worker
from runners import finish, resting
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess


@pytest.fixture
def forgetful(tmp_path: Path, java: Java, jars: Jars) -> Iterator[EmbeddedBroker]:
    """A broker that keeps the offsets of an empty group for a minute."""
    extra = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"}
    with EmbeddedBroker(tmp_path / "forgetful", java, jars, extra=extra) as broker:
        yield broker


@pytest.mark.heavy
def test_group_offsets_that_the_broker_let_expire(
    forgetful: EmbeddedBroker, tmp_path: Path, name: str
) -> None:
    """While a worker is up, also those of stopped sinks are kept; after a long sleep, restored."""
    topics = Topics(forgetful.bootstrap_servers)
    keeper = _worker(tmp_path / "keeper", forgetful, f"{name}-keeper")
    sleeper = _worker(tmp_path / "sleeper", forgetful, f"{name}-sleeper")
    try:
        for worker, sink in ((keeper, "kept"), (sleeper, "slept")):
            worker.start()
            topics.create(sink)
            topics.produce(sink, [b"1", b"2", b"3"])
            _create_sink(worker.client, sink, tmp_path / sink)
            eventually(
                lambda: _committed(topics, sink) == 4,  # noqa: B023 (called at once)
                within=180,
                what=f"the offset of {sink}",
            )
        keeper.client.stop("kept")
        assert sleeper.stop() == 0

        eventually(lambda: _committed(topics, "slept") is None, within=120, what="expiry", every=1)
        assert _committed(topics, "kept") == 4

        topics.produce("slept", [b"4"])
        sleeper.start()
        eventually(lambda: _committed(topics, "slept") == 6, within=180, what="the new offset")
        assert (tmp_path / "slept").read_text() == "1\n2\n3\n4\n"
    finally:
        keeper.close()
        sleeper.close()


def _worker(folder: Path, broker: EmbeddedBroker, group: str) -> WorkerProcess:
    return WorkerProcess(
        folder,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(group), "sink.offsets.recommit.interval.ms": "5000"},
    )


def _create_sink(client: ConnectClient, sink: str, file: Path) -> None:
    client.create(sink, {"connector.class": "FileStreamSink", "topics": sink, "file": str(file)})


def _committed(topics: Topics, sink: str) -> int | None:
    found = groups.committed(topics.admin, f"connect-{sink}")
    return found[(sink, 0)][0] if found else None


def test_a_change_made_from_outside_is_noticed(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Another tool moves the group back: the sink follows, and goes on from there."""
    topics.create(name)
    topics.produce(name, [b"1", b"2", b"3"])
    _create_sink(connectors, name, tmp_path / "out")
    eventually(lambda: _committed(topics, name) == 4, what="the first offset")
    set_offsets(topics.admin, f"connect-{name}", {(name, 0): (1, "")})
    eventually(lambda: _committed(topics, name) == 4, what="the sink's answer")
    assert (tmp_path / "out").read_text() == "1\n2\n3\n2\n3\n"


def test_renewing_offsets_disturbs_no_lease_that_runs(
    connectors: ConnectClient, topics: Topics, worker: Worker, name: str, tmp_path: Path
) -> None:
    topics.create(name)
    topics.produce(name, [b"1"])
    _create_sink(connectors, name, tmp_path / "out")
    eventually(lambda: _committed(topics, name) == 2, what="the first offset")
    runner = worker.herder._cluster.runners.runner(name)
    assert isinstance(runner, SinkRunner)
    finish(worker, name)  # so that the next one has all its time
    eventually(lambda: resting(worker, name), what="rest")
    topics.produce(name, [b"2"])
    eventually(lambda: _committed(topics, name) == 4, what="the second offset")
    before = set(runner._leases._handed)
    assert before
    runner.recommit()
    topics.produce(name, [b"3"])
    eventually(lambda: _committed(topics, name) == 6, what="the third offset")
    assert set(runner._leases._handed) == before
    finish(worker, name)
    eventually(lambda: resting(worker, name), what="rest")
    topics.produce(name, [b"4"])
    eventually(lambda: _committed(topics, name) == 8, what="the last offset")
    assert (tmp_path / "out").read_text() == "1\n2\n3\n4\n"
    assert not runner._renewing


def test_a_frozen_commit_of_another_sink_holds_nobody_up(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """A sink recovers while a neighbour's transaction is open in the partition of its copies."""
    topics.create(name)
    topics.produce(name, [b"1"])
    _create_sink(connectors, name, tmp_path / "out")
    eventually(lambda: _committed(topics, name) == 2, what="the first offset")
    frozen = topics.transaction(f"frozen-{name}")
    try:
        home = crc32(name.encode()) % PARTITIONS
        frozen.produce("suite-sink-offsets", b"{}", key=b"neighbour", partition=home)
        frozen.flush(20)
        connectors.restart(name, include_tasks=True)
        topics.produce(name, [b"2"])
        # Much sooner than the broker would end it.
        eventually(lambda: _committed(topics, name) == 4, within=40, what="the next offset")
    finally:
        frozen.abort_transaction(20)
    assert (tmp_path / "out").read_text() == "1\n2\n"
