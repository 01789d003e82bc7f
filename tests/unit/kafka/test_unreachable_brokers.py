"""Brokers that nobody answers for: told in words, with what to check."""

import pytest

from free_ports import free_port
from penstock.kafka import clients, compacted_topics
from penstock.kafka.clients import Connection
from penstock.kafka.compacted_topics import ensure_compacted
from penstock.kafka.errors import BrokerUnavailable


def test_stores_without_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compacted_topics, "ADMIN_TIMEOUT", 1.0)
    admin = clients.admin(Connection(f"127.0.0.1:{free_port()}", {}))
    with pytest.raises(BrokerUnavailable, match=r"--bootstrap-servers"):
        ensure_compacted(admin, "t", partitions=1)
