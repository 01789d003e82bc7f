"""Copies of sink positions belong to a connector and its group."""

from __future__ import annotations

from zlib import crc32

from penstock.kafka import groups
from penstock.kafka.clients import GroupAdmin
from penstock.kafka.sink_copies import SinkGroup, copy_key, copy_value
from penstock.kafka.topics import ids
from penstock.runtime.stores.position_copies import PARTITIONS
from penstock.runtime.stores.sink_positions import known_positions
from raw_records import write_records
from topics import Topics


def copy_to(topics: Topics, connector: str, key: bytes, value: bytes | None) -> None:
    """Write a copy as a lease does."""
    partition = crc32(connector.encode()) % PARTITIONS
    write_records(topics, f"{connector}-sink-offsets", [(key, value)], partition)


def test_another_group_is_not_given_the_positions_of_the_one_before(
    join, group_admin: GroupAdmin, topics: Topics, name: str
) -> None:
    topics.create(name)
    topics.produce(name, [b"record"] * 5)
    leader = join()
    leader.leadership.take_over()
    own, chosen = SinkGroup(name, f"connect-{name}"), SinkGroup(name, f"chosen-{name}")
    copy_to(topics, name, copy_key(own, name, 0), copy_value(3, "far"))
    leader.copies.log.read_to_end()
    assert known_positions(group_admin, leader.copies, chosen).committed == {}
    assert groups.committed(group_admin, chosen.group_id) == {}
    assert known_positions(group_admin, leader.copies, own).committed == {(name, 0): (3, "far")}

    copy_to(topics, name, copy_key(chosen, name, 0), copy_value(5, ""))
    leader.copies.log.read_to_end()
    for sink, place in ((own, (3, "far")), (chosen, (5, ""))):
        known = known_positions(group_admin, leader.copies, sink)
        assert known.committed == {(name, 0): place}
        assert known.expired == {(name, 0)}, "for a lease to commit before anything else"
        assert groups.committed(group_admin, sink.group_id) == {}, "reading writes nothing"


def test_a_topic_that_was_made_anew_is_not_given_the_positions_of_the_one_before(
    join, group_admin: GroupAdmin, topics: Topics, name: str
) -> None:
    """The broker lets the group's offsets go with their topic, which is no expiry."""
    leader = join()
    leader.leadership.take_over()
    own = SinkGroup(name, f"connect-{name}")

    def copied(offset: int, topic_id: str | None) -> None:
        copy_to(topics, name, copy_key(own, name, 0), copy_value(offset, "", topic_id))
        leader.copies.log.read_to_end()

    topics.create(name)
    first = ids(group_admin, [name])[name]
    topics.delete(name)
    assert ids(group_admin, [name]) == {}
    topics.create(name)
    topics.produce(name, [b"record"] * 5)
    copied(3, first)
    assert known_positions(group_admin, leader.copies, own).committed == {}
    copied(9, None)
    assert known_positions(group_admin, leader.copies, own).committed == {}, "beyond the end"
    assert groups.committed(group_admin, own.group_id) == {}
    copied(3, ids(group_admin, [name])[name])
    assert known_positions(group_admin, leader.copies, own).committed == {(name, 0): (3, "")}


def test_copies_that_earlier_versions_wrote_are_found_until_there_is_a_newer_one(
    join, group_admin: GroupAdmin, topics: Topics, name: str
) -> None:
    """They are in the workers' topic; what is forgotten comes back from neither place."""
    topics.create(name, 2)
    own = SinkGroup(name, f"connect-{name}")
    leader = join()
    for partition in (0, 1):
        record = copy_key(own, name, partition), copy_value(0, "before")
        write_records(topics, f"{name}-workers", [record])
    copy_to(topics, name, copy_key(own, name, 1), copy_value(0, "now"))

    def known(member) -> object:
        member.workers.read_to_end(20)
        return known_positions(group_admin, member.copies, own).committed

    assert known(leader) == {(name, 0): (0, "before"), (name, 1): (0, "now")}
    for partition in (0, 1):
        for topic, key, value, at in leader.copies.forgetting(own, (name, partition)):
            write_records(topics, topic, [(key, value)], at)
    assert known(leader) == known(join()) == {}
