"""A process that was frozen for longer than its session, and thaws."""

from __future__ import annotations

import signal
from itertools import islice

import pytest

from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from topics import Topics

pytestmark = pytest.mark.heavy


def test_it_ends_and_whoever_has_the_name_by_now_goes_on(
    reading, freeze, consumer, connection: Connection, topics: Topics, topic: str
) -> None:
    assert reading.stdout.readline() == b"0\n"
    freeze(reading)
    second = consumer(strategy="manual", flush=0.1).open()
    reading.send_signal(signal.SIGCONT)
    _, err = reading.communicate(timeout=30)
    assert reading.returncode == 1
    assert "lost its session" in err.decode()
    assert topics.end(topic) > 1
    # The first may have stored everything before it was frozen. Three, since two would be all of a
    # batch then, and a commit of all of it goes on behind the marker.
    topics.produce(topic, [b"10", b"11", b"12"])
    records = list(islice(second, 2))
    second.commit()
    second.flush()
    found = groups.committed(clients.admin(connection), f"reader-of-{topic}")
    assert found == {(topic, 0): (records[-1].offset + 1, "")}
