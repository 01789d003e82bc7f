"""The mirror source on a worker: between two clusters, and when the worker is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Message, Producer

from documented import documented
from free_ports import free_port
from mirrored import MIRROR, mirror_config
from own_cluster import own_topics
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Jars, Java
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars) -> Iterator[Topics]:
    """The topics of another cluster."""
    with EmbeddedBroker(tmp_path_factory.mktemp("elsewhere"), java, jars) as running:
        yield Topics(running.bootstrap_servers)


def _config(source: Topics, target: Topics, topics: str, **more: str) -> dict[str, str]:
    made = mirror_config(source.bootstrap_servers, target.bootstrap_servers, topics, **more)
    return {"connector.class": MIRROR, **made}


def _kept(message: Message) -> tuple[object, ...]:
    return (
        message.partition(),
        message.key(),
        message.value(),
        message.timestamp(),
        message.headers(),
    )


def test_a_topic_is_mirrored_and_altered_offsets_move_it(
    connectors: ConnectClient, topics: Topics, name: str
) -> None:
    """Within one cluster, with the worker's converters, which are not those for bytes."""
    topics.create(name, 2)
    topics.produce(name, [b"\xff%d" % n for n in range(1000)])
    connectors.create(name, {**_config(topics, topics, name), "tasks.max": "2"})
    there = f"src.{name}"
    eventually(lambda: len(topics.messages(there)) >= 1000, within=120)
    topics.produce(name, [b"later"], partition=1)
    eventually(lambda: len(topics.messages(there)) >= 1001, within=120)
    assert [*map(_kept, topics.messages(there))] == [*map(_kept, topics.messages(name))]
    partition = {"cluster": "src", "partition": 1, "topic": name}

    def stored() -> dict[str, int] | None:
        found = {str(e["partition"]): e["offset"] for e in connectors.offsets(name)}
        return found.get(str(partition))

    end = topics.end(name, 1)
    eventually(lambda: stored() == {"offset": end - 1}, within=60, what="the end")
    connectors.stop(name)
    # The last record was at 0, behind it is its transaction's marker.
    connectors.alter_offsets(name, [{"partition": partition, "offset": None}])
    connectors.resume(name)
    eventually(lambda: len(topics.messages(there)) >= 1002, within=120)
    assert [m.value() for m in topics.messages(there)][-2:] == [b"later", b"later"]


@pytest.mark.heavy
def test_records_of_another_cluster_arrive_as_they_were(
    connectors: ConnectClient, topics: Topics, elsewhere: Topics, name: str
) -> None:
    """As the how-to says, with names kept; partitions and topics that come later are found."""
    elsewhere.create(name, 3, {"retention.ms": "-1"})  # the timestamps below are old
    producer = Producer({"bootstrap.servers": elsewhere.bootstrap_servers})
    for n in range(3000):
        producer.produce(
            name,
            None if n % 10 == 0 else b"%d" % n,
            None if n % 7 == 0 else b"k%d" % n,
            partition=n % 3,
            timestamp=1_600_000_000_000 + n,
            headers=[("n", b"%d" % n), ("n", None)] if n % 2 else None,
        )
    producer.flush(30)
    elsewhere.produce(name, [b"never"], abort=True)
    policy = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
    shown = documented("docs/mirror.md", "orders-from-paris")
    open_to_all = {k: v for k, v in shown.items() if ".sasl." not in k and ".security." not in k}
    config = _config(elsewhere, topics, f"{name}.*", replication_policy_class=policy)
    connectors.create(name, {**open_to_all, **config})
    eventually(lambda: len(topics.messages(name)) >= 3000, within=120)
    assert [*map(_kept, topics.messages(name))] == [*map(_kept, elsewhere.messages(name))]
    elsewhere.grow(name, 4)
    elsewhere.create(f"{name}-later")
    elsewhere.produce(name, [b"grown"], partition=3)
    elsewhere.produce(f"{name}-later", [b"found"])
    eventually(lambda: topics.values(f"{name}-later") == ["found"], within=120)
    eventually(lambda: topics.values(name)[-1:] == ["grown"], within=120)


@pytest.mark.heavy
def test_a_killed_worker_neither_loses_nor_repeats(
    broker: EmbeddedBroker, topics: Topics, elsewhere: Topics, name: str, tmp_path: Path
) -> None:
    count = 200_000
    elsewhere.create(name, 2)
    producer = Producer({"bootstrap.servers": elsewhere.bootstrap_servers})
    for n in range(count):
        producer.produce(name, b"%d" % n, b"k", partition=n % 2)
        if n % 10_000 == 0:
            producer.flush(30)
    producer.flush(30)
    worker = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
    )
    there = f"src.{name}"
    try:
        worker.start(240)
        worker.client.create(name, {**_config(elsewhere, topics, name), "tasks.max": "2"})
        eventually(lambda: topics.end(there) > 0, within=240, what="records")
        worker.kill_tree()
        written = sum(topics.end(there, p, committed=False) for p in range(2))
        worker.start(240)
        eventually(lambda: len(topics.messages(there)) >= count, within=240, what="all records")
    finally:
        worker.close()
    assert written < count, "it was killed too late"
    values = [int(value) for value in topics.values(there)]
    assert values == [*range(0, count, 2), *range(1, count, 2)]
