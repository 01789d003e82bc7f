"""Storing in the background while the broker does not answer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partialmethod
from itertools import islice

import pytest

from penstock.consumers import Consumer, FlushFailed
from penstock.consumers.holding.hold import Hold
from penstock.embedded import EmbeddedBroker
from penstock.kafka import clients, groups
from penstock.kafka.errors import BrokerUnavailable
from topics import Topics
from waiting import eventually

SHORTEST_SESSION_MS = 6000
"""That brokers allow."""


@pytest.fixture
def reader(own_broker: EmbeddedBroker, name: str) -> Iterator[Consumer]:
    """Reads ten numbers from a topic of the test's own."""
    servers = own_broker.bootstrap_servers
    topics = Topics(servers)
    topics.create(name)
    topics.produce(name, [b"%d" % number for number in range(10)])
    with Consumer(name, name, strategy="manual", flush=0.2, bootstrap_servers=servers) as reader:
        yield reader


@pytest.fixture
def short_session(monkeypatch: pytest.MonkeyPatch) -> None:
    short = partialmethod(Hold.take, session_ms=SHORTEST_SESSION_MS)
    monkeypatch.setattr(Hold, "take", short)


@pytest.fixture
def frozen(
    own_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], AbstractContextManager[None]]:
    """Within it the broker answers nobody, and commits are given up soon; afterwards both are as
    ever."""

    @contextmanager
    def frozen() -> Iterator[None]:
        with monkeypatch.context() as patched:
            patched.setattr("penstock.consumers.holding.member.COMMIT_SECONDS", 1.0)
            patched.setattr("penstock.consumers.holding.absence.REACH_SECONDS", 1.0)
            os.kill(own_broker.pid, signal.SIGSTOP)
            try:
                yield
            finally:
                os.kill(own_broker.pid, signal.SIGCONT)

    return frozen


def test_what_could_not_be_stored_is_told_and_stored_later(frozen, reader: Consumer) -> None:
    assert [record.text for record in islice(reader, 4)] == ["0", "1", "2", "3"]
    with frozen():
        reader.commit()
        text = eventually(lambda: told(reader), what="that it could not be stored")
    assert "positions could not be stored" in text
    assert "tried again" in text
    eventually(lambda: stored(reader) == 4, what="what was stored in the background")
    eventually(lambda: stores(reader) and not told(reader), what="a broker that takes it")
    reader.commit(next(reader))
    reader.flush()
    assert stored(reader) == 5


@pytest.mark.usefixtures("short_session")
def test_a_session_that_ends_meanwhile_is_no_end(
    own_broker: EmbeddedBroker, frozen, reader: Consumer
) -> None:
    assert len(list(islice(reader, 10))) == 10
    with frozen():
        reader.commit()
        eventually(lambda: "no other process has the name" in told(reader), what="that it is away")
        with pytest.raises(FlushFailed, match=r"cannot reach the brokers.*; trying again"):
            next(reader)
    eventually(lambda: stores(reader) and not told(reader), what="that it is back")
    Topics(own_broker.bootstrap_servers).produce(reader.options.topic, [b"10"])
    assert next(reader).text == "10"
    reader.flush()
    assert stored(reader) >= 10


def told(reader: Consumer) -> str:
    """What the next call tells of a flush that failed."""
    try:
        reader.commit()
    except FlushFailed as error:
        return str(error)
    return ""


def stores(reader: Consumer) -> bool:
    """Whether it can store what was committed; what went wrong before may be told afterwards."""
    try:
        reader.flush()
    except (FlushFailed, BrokerUnavailable):
        return False
    return True


def stored(reader: Consumer) -> int:
    found = groups.committed(clients.admin(reader._connection), reader.options.name or "")
    return found[(reader.options.topic, 0)][0]
