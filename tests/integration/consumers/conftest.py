"""Named consumers on the run's broker."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import MagicMock

import httpx
import pytest

from commands import Commands
from penstock.consumers import Consumer
from penstock.consumers.directory import Directory
from penstock.consumers.registry.entries import RegistryKey
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from penstock.rest.app import create_app
from penstock.rest.consumers_api import ConsumersApi
from served_app import serving
from topics import Topics
from waiting import eventually

Open = Callable[..., Consumer]


@pytest.fixture
def connection(broker: EmbeddedBroker) -> Connection:
    return Connection(broker.bootstrap_servers)


@pytest.fixture(scope="session")
def own_broker(
    tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> Iterator[EmbeddedBroker]:
    """A broker that a test may freeze, as long as it thaws it."""
    with EmbeddedBroker(tmp_path_factory.mktemp("own"), java, jars) as running:
        yield running


@pytest.fixture(autouse=True)
def counts_back_patiently(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are counted however slow the machine is; commands in other processes do as always."""
    monkeypatch.setattr("penstock.consumers.reading.counting_back.SECONDS", 120.0)


@pytest.fixture
def topic(topics: Topics, name: str) -> str:
    """A topic of the test's own, with the numbers 0 to 9 in its one partition."""
    topics.create(name)
    topics.produce(name, [b"%d" % n for n in range(10)])
    return name


@pytest.fixture
def consumer(broker: EmbeddedBroker, topic: str) -> Iterator[Open]:
    """Makes consumers of the topic under the test's own name, and closes them."""
    made: list[Consumer] = []

    def make(**options: Any) -> Consumer:
        options.setdefault("name", f"reader-of-{topic}")
        found = Consumer(
            options.pop("topic", topic), bootstrap_servers=broker.bootstrap_servers, **options
        )
        made.append(found)
        return found

    yield make
    for each in made:
        each.close()


@pytest.fixture
def reading(penstock: Commands, topic: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command that reads the topic from its beginning, under the test's own name."""
    process = penstock.start("consume", topic, "-c", f"reader-of-{topic}", "-B")
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def freeze(connection: Connection, topic: str) -> Callable[[subprocess.Popen[bytes]], None]:
    """Freezes that command beyond its session."""
    admin, name = clients.admin(connection), f"reader-of-{topic}"

    def freeze(process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGSTOP)
        eventually(lambda: not groups.members(admin, name), every=0.2, what="the session's end")

    return freeze


@pytest.fixture
def directory(connection: Connection) -> Directory:
    return Directory(connection)


@pytest.fixture
def stands(directory: Directory, topic: str) -> Callable[[], dict[RegistryKey, int]]:
    """Where the consumers of the topic stand, as they are listed."""

    def listed() -> dict[RegistryKey, int]:
        return {each.key: each.offset for each in directory.listed() if each.key.topic == topic}

    return listed


@pytest.fixture
def penstock(
    broker: EmbeddedBroker,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Commands:
    """Commands that talk to the run's broker."""
    return Commands(broker.bootstrap_servers, monkeypatch, capsysbinary)


@pytest.fixture
def rest(connection: Connection) -> Iterator[httpx.Client]:
    """The API of a worker that has started, as far as it is about consumers and topics."""
    herder = MagicMock()
    herder.health.return_value = ("healthy", "")
    consumers = ConsumersApi(lambda: connection, lambda: {"my-configs"})
    with serving(create_app(herder, consumers=consumers), timeout=60) as client:
        yield client
