"""How long a consumer is kept, and what happens when it or its topic goes."""

from __future__ import annotations

from itertools import islice

import pytest

from penstock.consumers import ConsumerError, NameHeld, Offset
from penstock.consumers.directory import Directory
from penstock.consumers.registry.entries import RegistryKey
from penstock.kafka import clients, groups
from topics import Topics
from waiting import eventually


def take(records, count: int) -> list[str]:
    return [record.text for record in islice(records, count)]


@pytest.fixture
def place(topic: str) -> RegistryKey:
    return RegistryKey(f"reader-of-{topic}", topic, 0)


def read_two(consumer, **options) -> None:
    with consumer(**options) as reader:
        take(reader, 2)


def test_a_consumer_expires(consumer, directory: Directory, connection, stands, place) -> None:
    read_two(consumer, ttl=600)
    assert place in stands()
    directory.keep_for(place.name, 1)
    eventually(lambda: place not in stands(), what="gone from the list")
    assert groups.committed(clients.admin(connection), place.name), "still in storage"
    assert place in directory.sweep()
    assert groups.committed(clients.admin(connection), place.name) == {}
    assert take(consumer(), 1) == ["0"]


def test_whoever_comes_back_too_late_starts_afresh(consumer, stands, place) -> None:
    """Also before it was swept."""
    read_two(consumer, ttl=0.5)
    eventually(lambda: place not in stands(), what="gone from the list")
    assert take(consumer(start=Offset.absolute(7)), 1) == ["7"]


def test_a_consumer_that_is_there_does_not_expire(consumer, directory, place) -> None:
    def seen() -> int:
        listed = {each.key: each.seen for each in directory.listed()}
        assert place in listed, "at every look"
        return listed[place]

    with consumer(ttl=6) as reader:
        take(reader, 2)
        before = seen()
        eventually(lambda: seen() > before + 6000, every=0.2, what="seen after a whole TTL")
        assert place not in directory.sweep()


def test_a_topics_ttl_and_a_consumers_own(consumer, directory: Directory, place) -> None:
    def left() -> int | None:
        found = {each.key: each for each in directory.listed()}[place]
        return None if found.expires is None else found.expires - found.seen

    read_two(consumer)
    assert left() is None
    directory.keep_consumers_of(place.topic, 3_600_000)
    assert left() == 3_600_000
    directory.keep_for(place.name, 60_000)
    assert left() == 60_000
    directory.keep_for(place.name, None)
    assert left() == 3_600_000
    directory.keep_consumers_of(place.topic, None)
    assert left() is None
    with pytest.raises(ConsumerError, match='there is no consumer "nobody"'):
        directory.keep_for("nobody", 1)


def test_a_place_that_the_group_has_forgotten_is_kept(consumer, connection, place) -> None:
    """As the broker does when nobody was connected for longer than its own retention."""
    read_two(consumer)
    groups.remove_members(connection, place.name, {place.topic: None})
    eventually(lambda: groups.members(clients.admin(connection), place.name) == set(), what="empty")
    groups.delete(clients.admin(connection), place.name)
    assert groups.committed(clients.admin(connection), place.name) == {}
    assert take(consumer(), 1) == ["2"]


def test_deleting(consumer, directory: Directory, connection, stands, place) -> None:
    with consumer() as reader:
        take(reader, 2)
        with pytest.raises(NameHeld, match="Stop it first, or say --force"):
            directory.delete(place.name)
    assert directory.delete(place.name, topic="another") == []
    assert directory.delete(place.name, partition=1) == []
    assert directory.delete(place.name, partition=0) == [place]
    assert stands() == {}
    assert groups.committed(clients.admin(connection), place.name) == {}
    assert directory.delete(place.name) == []
    assert take(consumer(), 1) == ["0"]


def test_resetting(consumer, directory: Directory, stands, place) -> None:
    read_two(consumer)
    assert directory.reset(place.name, place.topic, Offset.absolute(7)) == {place: 7}
    assert stands() == {place: 7}
    with consumer() as reader:
        assert take(reader, 1) == ["7"]
        with pytest.raises(NameHeld):
            directory.reset(place.name, place.topic, Offset.beginning())
    directory.reset(place.name, place.topic, Offset.beginning())
    assert take(consumer(), 1) == ["0"]


def test_a_topic_made_anew_starts_afresh(
    consumer, topics: Topics, directory: Directory, stands, place
) -> None:
    read_two(consumer)
    topics.delete(place.topic)
    assert stands() == {}
    topics.create(place.topic)
    topics.produce(place.topic, [b"new 0", b"new 1", b"new 2"])
    assert stands() == {}
    assert take(consumer(), 1) == ["new 0"]


def test_forgetting_a_topic(consumer, directory: Directory, stands, place) -> None:
    read_two(consumer)
    read_two(consumer, name="second")
    directory.keep_consumers_of(place.topic, 1000)
    assert directory.forget_topic(place.topic) == sorted(
        [place, RegistryKey("second", place.topic, 0)]
    )
    assert stands() == {}
