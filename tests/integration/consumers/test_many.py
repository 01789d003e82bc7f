"""Ten thousand consumers are one read, and a commit of one of them is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import httpx
import pytest

from commands import Commands
from penstock.consumers.directory import Directory
from penstock.consumers.registry.entries import Entry, RegistryKey, now
from penstock.consumers.registry.registry import TOPIC as REGISTRY
from penstock.consumers.registry.registry import Registry
from penstock.consumers.topic import find_topic
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from topics import Topics

pytestmark = pytest.mark.heavy

COUNT = 10_000


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> Iterator[EmbeddedBroker]:
    """One of its own: on the run's, every other test would have to read them all."""
    with EmbeddedBroker(tmp_path_factory.mktemp("many"), java, jars) as running:
        yield running


@pytest.fixture(scope="module")
def topics(broker: EmbeddedBroker) -> Topics:
    return Topics(broker.bootstrap_servers)


@pytest.fixture
def many(connection: Connection, topic: str) -> Iterator[dict[RegistryKey, Entry]]:
    """Ten thousand consumers of the topic, who are forgotten afterwards."""
    admin = clients.admin(connection)
    registry = Registry(connection, admin)
    registry.ensure()
    found = find_topic(admin, topic)
    entries = {
        RegistryKey(f"many-{number:05}", topic, 0): Entry(number % 11, found.id, now())
        for number in range(COUNT)
    }
    registry.write(entries)
    registry.flush()
    yield entries
    registry.write(dict.fromkeys(entries))
    registry.flush()


def test_ten_thousand_are_listed(
    many: dict[RegistryKey, Entry], connection: Connection, directory: Directory, topic: str
) -> None:
    listed = [each for each in directory.listed() if each.key.topic == topic]
    assert [each.key for each in listed] == sorted(many)
    assert [each.lag for each in listed] == [11 - number % 11 for number in range(COUNT)]
    registry = Registry(connection, clients.admin(connection))
    registry.write(dict.fromkeys(many))
    registry.flush()
    assert not [each for each in directory.listed() if each.key.topic == topic]


def test_ten_thousand_are_a_table(
    many: dict[RegistryKey, Entry], penstock: Commands, topic: str
) -> None:
    _, *rows = (line.split() for line in penstock.done("consumer", "list").lines)
    found = [(row[0], int(row[4])) for row in rows if row[1] == topic]
    assert found == names_and_lags(many)


def test_ten_thousand_are_told_by_the_command_and_over_rest(
    many: dict[RegistryKey, Entry], penstock: Commands, rest: httpx.Client, topic: str
) -> None:
    expected = names_and_lags(many)
    by_command = penstock.done("consumer", "list", "-o", "jsonl").objects()
    for found in (by_command, rest.get("/consumers").json()):
        assert [(e["consumer"], e["lag"]) for e in found if e["topic"] == topic] == expected


def names_and_lags(many: dict[RegistryKey, Entry]) -> list[tuple[str, int]]:
    """As they are to be listed."""
    return [(place.name, 11 - many[place].offset) for place in sorted(many)]


@pytest.mark.usefixtures("many")
def test_a_commit_among_them_reads_nothing_and_writes_one_record(
    consumer, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    for kind in ("reader", "admin"):
        monkeypatch.setattr(clients, kind, noting(made, kind, getattr(clients, kind)))
    with consumer(strategy="manual", flush=600) as reader:
        assert made.count("reader") == 1, "to begin, the registry is read once"
        for record in islice(reader, 3):
            made.clear()
            before = topics.end(REGISTRY, committed=False)
            reader.commit(record)
            reader.flush()
            assert topics.end(REGISTRY, committed=False) == before + 1
            assert made == [], "nothing was read or asked"


def noting(made: list[str], kind: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """``make``, noting that something of this kind was made."""

    def made_and_noted(*args: Any, **options: Any) -> Any:
        made.append(kind)
        return make(*args, **options)

    return made_and_noted
