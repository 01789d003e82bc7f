"""Ten thousand consumers are one read."""

from __future__ import annotations

from penstock.consumers.directory import Directory
from penstock.consumers.entries import Entry, Place, now
from penstock.consumers.registry import Registry
from penstock.consumers.starting import find_topic
from penstock.kafka import clients
from penstock.kafka.clients import Connection

COUNT = 10_000


def test_ten_thousand_are_listed(connection: Connection, directory: Directory, topic: str) -> None:
    admin = clients.admin(connection)
    registry = Registry(connection, admin)
    registry.ensure()
    found = find_topic(admin, topic)
    entries = {
        Place(f"many-{number:05}", topic, 0): Entry(number % 11, found.id, now())
        for number in range(COUNT)
    }
    registry.write(entries)
    registry.flush()
    listed = [each for each in directory.listed() if each.place.topic == topic]
    assert [each.place for each in listed] == sorted(entries)
    assert [each.lag for each in listed] == [11 - number % 11 for number in range(COUNT)]
    registry.write(dict.fromkeys(entries))
    registry.flush()
    assert not [each for each in directory.listed() if each.place.topic == topic]
