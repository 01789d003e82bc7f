"""What the tests of the protocol's rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from distant_broker import DistantBroker
from penstock.client import ConnectClient
from penstock.embedded import Jars, Java
from penstock.kafka.clients import Connection
from topics import Topics

Scripted = Callable[..., None]


@pytest.fixture
def scripted(connectors: ConnectClient, topics: Topics, name: str) -> Scripted:
    """Creates the scripted source of this test, with topic and name as the test's."""

    def create(**keys: Any) -> None:
        topics.create(name)
        config = {key.replace("_", "."): str(value) for key, value in keys.items()}
        connectors.create(name, {"connector.class": "ScriptedSource", "topic": name, **config})

    return create


@pytest.fixture(scope="session")
def distant(
    tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> Iterator[DistantBroker]:
    """A broker of its own behind a link that a test may spoil."""
    with DistantBroker(tmp_path_factory.mktemp("distant"), java, jars) as broker:
        yield broker


@pytest.fixture
def over_link(distant: DistantBroker) -> Iterator[Connection]:
    """How that broker is reached; after each test the link is as it should be."""
    yield Connection(distant.address)
    distant.link.delay, distant.link.rate = 0.0, None
