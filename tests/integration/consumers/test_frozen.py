"""A process that was frozen for longer than its session, and thaws."""

from __future__ import annotations

import signal
from itertools import islice

from commands import Commands
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually


def test_it_ends_and_whoever_has_the_name_by_now_goes_on(
    penstock: Commands, consumer, connection: Connection, topics: Topics, topic: str
) -> None:
    name = f"reader-of-{topic}"
    admin = clients.admin(connection)
    frozen = penstock.start("consume", topic, "-c", name, "-B")
    assert frozen.stdout is not None
    assert frozen.stdout.readline() == b"0\n"
    frozen.send_signal(signal.SIGSTOP)
    try:
        eventually(lambda: not groups.members(admin, name), every=0.2, what="the session's end")
        second = consumer(strategy="manual", flush=0.1).open()
        frozen.send_signal(signal.SIGCONT)
        _, err = frozen.communicate(timeout=30)
        assert frozen.returncode == 1
        assert "was away for longer than its session" in err.decode()
    finally:
        frozen.kill()
        frozen.wait()
    assert topics.end(topic) > 1
    records = list(islice(second, 2))
    second.commit()
    second.flush()
    found = groups.committed(admin, name)
    assert found == {(topic, 0): (records[-1].offset + 1, "")}
