"""Contracts with Kafka are tested against the run's real broker; no Spark."""

from __future__ import annotations

import pytest

from penstock.embedded import EmbeddedBroker
from penstock.kafka import clients
from penstock.kafka.clients import Connection, GroupAdmin


@pytest.fixture(scope="session")
def connection(broker: EmbeddedBroker) -> Connection:
    """How clients reach the broker."""
    return Connection(broker.bootstrap_servers)


@pytest.fixture(scope="session")
def admin(connection: Connection) -> GroupAdmin:
    """The project's own kind of admin client."""
    return clients.admin(connection)
