"""What the registry's records say, and for how long."""

from __future__ import annotations

from penstock.consumers.registry.entries import (
    Entry,
    RegistryKey,
    Snapshot,
    TopicDefaults,
    consumer_key,
    defaults_value,
    entry_value,
    topic_key,
    ttl_key,
    ttl_value,
)
from penstock.consumers.registry.holder import Holder

PLACE = RegistryKey("c1", "orders", 0)
HOLDER = Holder("abc", "here", 1)


def test_what_was_written_is_read_and_forgotten() -> None:
    snapshot, entry = Snapshot(), Entry(7, "id", 1000, 500, HOLDER)
    snapshot.take(consumer_key(PLACE), entry_value(entry))
    snapshot.take(ttl_key("c1"), ttl_value(5))
    snapshot.take(topic_key("orders"), defaults_value(TopicDefaults("id", 9)))
    assert snapshot.entries == {PLACE: entry}
    assert snapshot.ttls == {"c1": 5}
    assert snapshot.topics == {"orders": TopicDefaults("id", 9)}
    for key in (consumer_key(PLACE), ttl_key("c1"), topic_key("orders")):
        snapshot.take(key, None)
    assert (snapshot.entries, snapshot.ttls, snapshot.topics) == ({}, {}, {})


def test_records_of_other_kinds_are_passed_over() -> None:
    snapshot = Snapshot()
    for key in (None, b"", b"\xff", b"[]", b'["consumer",1]', b'{"a":1}', b'["other","c1"]'):
        snapshot.take(key, b"{}")
    assert snapshot.entries == {}


def test_a_consumers_ttl_comes_before_its_topics() -> None:
    snapshot = Snapshot()
    snapshot.take(consumer_key(PLACE), entry_value(Entry(7, "id", 1000)))
    assert snapshot.expires(PLACE) is None
    snapshot.take(topic_key("orders"), defaults_value(TopicDefaults("id", 50)))
    assert snapshot.expires(PLACE) == 1050
    snapshot.take(ttl_key("c1"), ttl_value(20))
    assert snapshot.expires(PLACE) == 1020
    assert (snapshot.expired(PLACE, 1020), snapshot.expired(PLACE, 1021)) == (False, True)


def test_the_ttl_of_a_topic_that_was_made_anew_does_not_count() -> None:
    snapshot = Snapshot()
    snapshot.take(consumer_key(PLACE), entry_value(Entry(7, "new", 1000)))
    snapshot.take(topic_key("orders"), defaults_value(TopicDefaults("old", 50)))
    assert snapshot.expires(PLACE) is None


def test_a_holder_is_given_the_time_to_say_that_it_is_there() -> None:
    held = Entry(7, "id", 1000, 60_000, HOLDER)
    released = Entry(7, "id", 1000, 60_000, Holder("abc", "here", 1, released=True))
    assert (held.expires(5_000), released.expires(5_000)) == (121_000, 6_000)
