"""A broker that forgets a group's offsets after a minute: named consumers keep their place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from penstock.consumers import Consumer
from penstock.consumers.directory import Directory
from penstock.consumers.registry.entries import RegistryKey
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually

pytestmark = pytest.mark.heavy

FORGETFUL = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "2000"}
TOPIC = "numbers"
TTLS = {"without-ttl": None, "with-ttl": 3600.0}


@pytest.fixture
def connection(
    tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> Iterator[Connection]:
    folder = tmp_path_factory.mktemp("forgetful")
    with EmbeddedBroker(folder, java, jars, extra=FORGETFUL) as running:
        yield Connection(running.bootstrap_servers)


def reader(connection: Connection, name: str, ttl: float | None = None) -> Consumer:
    return Consumer(TOPIC, name, ttl=ttl, bootstrap_servers=connection.bootstrap_servers)


def read(consumer: Consumer, count: int) -> list[str | None]:
    return [record.text for record in islice(consumer, count)]


def committed(connection: Connection, name: str) -> dict[tuple[str, int], tuple[int, str]]:
    """As the broker tells anybody who asks for a group's offsets."""
    return groups.committed(clients.admin(connection), name)


def test_a_place_outlives_the_brokers_retention(connection: Connection) -> None:
    topics = Topics(connection.bootstrap_servers)
    topics.create(TOPIC)
    topics.produce(TOPIC, [b"%d" % number for number in range(10)])
    for name, ttl in TTLS.items():
        with reader(connection, name, ttl) as gone:
            assert read(gone, 3) == ["0", "1", "2"]
        assert committed(connection, name) == {(TOPIC, 0): (3, "")}
    with reader(connection, "connected") as idle:
        assert read(idle, 4) == ["0", "1", "2", "3"]
        idle.commit()
        for name in TTLS:
            eventually(
                lambda name=name: not committed(connection, name),  # type: ignore[misc]  # mypy: a lambda with a default
                within=120,
                every=0.5,
                what=f"a group that the broker has forgotten: {name}",
            )
        listed = {each.key: each for each in Directory(connection).listed()}
        assert {place.name: each.offset for place, each in listed.items()} == {
            "without-ttl": 3,
            "with-ttl": 3,
            "connected": 4,
        }
        assert listed[RegistryKey("without-ttl", TOPIC, 0)].expires is None
        assert read(idle, 1) == ["4"], "who stays connected reads on"
    for name in TTLS:
        with reader(connection, name) as back:
            assert read(back, 1) == ["3"], f"{name} goes on where it stopped"
    with reader(connection, "connected") as back:
        assert read(back, 1) == ["5"]
