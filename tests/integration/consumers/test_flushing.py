"""Storing in the background while the broker does not answer."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import islice

import pytest

from penstock.consumers import Consumer, FlushFailed
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually

TOPIC, NAME = "numbers", "reader"


@pytest.fixture
def own_broker(
    tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> Iterator[EmbeddedBroker]:
    """A broker that a test may freeze."""
    with EmbeddedBroker(tmp_path_factory.mktemp("own"), java, jars) as running:
        yield running


def test_what_could_not_be_stored_is_told_and_stored_later(
    own_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.consumers.member.COMMIT_SECONDS", 1.0)
    servers = own_broker.bootstrap_servers
    topics = Topics(servers)
    topics.create(TOPIC)
    topics.produce(TOPIC, [b"%d" % number for number in range(10)])
    reader = Consumer(TOPIC, NAME, strategy="manual", flush=0.2, bootstrap_servers=servers)
    with reader:
        assert [record.text for record in islice(reader, 4)] == ["0", "1", "2", "3"]
        os.kill(own_broker.pid, signal.SIGSTOP)
        try:
            reader.commit()
            text = eventually(lambda: told(reader), within=8, what="that it could not be stored")
        finally:
            os.kill(own_broker.pid, signal.SIGCONT)
        assert "positions could not be stored" in text
        assert "tried again" in text
        eventually(lambda: stored(servers) == 4, what="what was stored in the background")
        eventually(lambda: not told(reader), within=20, what="nothing more to tell")
        reader.commit(next(reader))
        reader.flush()
        assert stored(servers) == 5


def told(reader: Consumer) -> str:
    """What the next call tells of a flush that failed."""
    try:
        reader.commit()
    except FlushFailed as error:
        return str(error)
    return ""


def stored(servers: str) -> int:
    found = groups.committed(clients.admin(Connection(servers)), NAME)
    return found[(TOPIC, 0)][0]
