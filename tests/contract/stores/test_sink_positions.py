"""Copies of sink positions belong to a connector and its group."""

from __future__ import annotations

from penstock.kafka import groups
from penstock.kafka.clients import GroupAdmin
from penstock.kafka.sink_copies import SinkGroup, copy_key, copy_value
from penstock.kafka.topics import ids
from penstock.runtime.sink_positions import restored_positions
from raw_records import write_records
from topics import Topics


def test_another_group_is_not_given_the_positions_of_the_one_before(
    join, group_admin: GroupAdmin, topics: Topics, name: str
) -> None:
    topics.create(name)
    topics.produce(name, [b"record"] * 5)
    leader = join()
    leader.duties.take_over()
    own, chosen = SinkGroup(name, f"connect-{name}"), SinkGroup(name, f"chosen-{name}")
    write_records(topics, f"{name}-workers", [(copy_key(own, name, 0), copy_value(3, "far"))])
    leader.copies.log.read_to_end()
    assert restored_positions(group_admin, leader.copies, chosen) == {}
    assert groups.committed(group_admin, chosen.group_id) == {}
    assert restored_positions(group_admin, leader.copies, own) == {(name, 0): (3, "far")}

    write_records(topics, f"{name}-workers", [(copy_key(chosen, name, 0), copy_value(5, ""))])
    leader.copies.log.read_to_end()
    for sink, place in ((own, (3, "far")), (chosen, (5, ""))):
        assert restored_positions(group_admin, leader.copies, sink) == {(name, 0): place}
        assert groups.committed(group_admin, sink.group_id) == {(name, 0): place}


def test_a_topic_that_was_made_anew_is_not_given_the_positions_of_the_one_before(
    join, group_admin: GroupAdmin, topics: Topics, name: str
) -> None:
    """The broker lets the group's offsets go with their topic, which is no expiry."""
    leader = join()
    leader.duties.take_over()
    own = SinkGroup(name, f"connect-{name}")

    def copied(offset: int, topic_id: str | None) -> None:
        record = copy_key(own, name, 0), copy_value(offset, "", topic_id)
        write_records(topics, f"{name}-workers", [record])
        leader.copies.log.read_to_end()

    topics.create(name)
    first = ids(group_admin, [name])[name]
    topics.delete(name)
    assert ids(group_admin, [name]) == {}
    topics.create(name)
    topics.produce(name, [b"record"] * 5)
    copied(3, first)
    assert restored_positions(group_admin, leader.copies, own) == {}
    copied(9, None)
    assert restored_positions(group_admin, leader.copies, own) == {}, "beyond the end"
    assert groups.committed(group_admin, own.group_id) == {}
    copied(3, ids(group_admin, [name])[name])
    assert restored_positions(group_admin, leader.copies, own) == {(name, 0): (3, "")}
