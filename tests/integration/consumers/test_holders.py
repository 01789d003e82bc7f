"""One name, one partition, one holder."""

from __future__ import annotations

import threading
from itertools import islice

import pytest

from penstock.consumers import Consumer, Fenced, NameHeld
from penstock.consumers.errors import SessionOver
from penstock.consumers.holding.hold import Hold
from penstock.consumers.holding.member import Member
from penstock.consumers.registry.entries import RegistryKey
from penstock.consumers.registry.registry import Registry
from penstock.consumers.slots import Slot
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually


def take(records, count: int) -> list[str]:
    return [record.text for record in islice(records, count)]


def test_the_second_is_refused(consumer) -> None:
    first = consumer()
    assert take(first, 2) == ["0", "1"]
    with pytest.raises(NameHeld, match=r"is reading .* already: process \d+ on .*--take-over"):
        consumer().open()
    assert take(first, 1) == ["2"], "and the first goes on"
    first.flush()


def test_the_second_takes_over_and_the_first_is_fenced(consumer, stands) -> None:
    first = consumer(strategy="manual", flush=600)
    take(first, 5)
    first.commit()
    first.flush()
    take(first, 2)
    first.commit()

    second = consumer(strategy="manual", take_over=True)
    assert take(second, 1) == ["5"]
    with pytest.raises(Fenced, match=r"nothing can be committed here|was taken over"):
        first.flush()
    eventually(lambda: _is_fenced(first), what="a reader that notices")
    first.close()
    second.commit()
    second.flush()
    assert list(stands().values()) == [6], "what the first had in mind does not count"


def _is_fenced(reader) -> bool:
    try:
        reader.commit()
    except Fenced:
        return True
    return False


@pytest.mark.parametrize(("held", "wanted"), [(None, [0]), ([0, 1], [1, 2]), ([2], None)], ids=str)
def test_partitions_that_overlap(consumer, topics: Topics, name: str, held, wanted) -> None:
    topics.create(f"{name}-3", partitions=3)
    first = consumer(topic=f"{name}-3", partitions=held).open()
    with pytest.raises(NameHeld):
        consumer(topic=f"{name}-3", partitions=wanted).open()
    second = consumer(topic=f"{name}-3", partitions=wanted, take_over=True).open()
    eventually(lambda: _is_fenced(first), what="the first fenced")
    second.commit()
    second.flush()


def test_different_partitions_and_topics_are_no_conflict(
    consumer, topics: Topics, name: str, directory
) -> None:
    topics.create(f"{name}-3", partitions=3)
    readers = [consumer(topic=f"{name}-3", partitions=[p]).open() for p in range(3)]
    readers.append(consumer().open())
    for reader in readers:
        reader.flush()
    mine = [each.key for each in directory.listed() if each.key.name == f"reader-of-{name}"]
    assert mine == [
        RegistryKey(f"reader-of-{name}", name, 0),
        *(RegistryKey(f"reader-of-{name}", f"{name}-3", p) for p in range(3)),
    ]


@pytest.mark.parametrize(
    ("partitions", "fewest"), [pytest.param(None, 1, id="same"), pytest.param(0, 0, id="overlap")]
)
def test_two_at_the_same_moment(consumer, partitions: int | None, fewest: int) -> None:
    """Whoever comes second is refused, or the first is fenced; never do both go on.

    Of those that want the same partitions, one does. Others that overlap may find each other, and
    then both are refused; either gets in afterwards.
    """
    outcomes: list[object] = []
    ready = threading.Barrier(2)

    def begin(wanted: int | None) -> None:
        reader = consumer(partitions=wanted)
        ready.wait()
        try:
            reader.open()
            take(reader, 1)
        except (NameHeld, Fenced) as error:
            outcomes.append(error)
        else:
            outcomes.append(reader)

    threads = [threading.Thread(target=begin, args=[each]) for each in (None, partitions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    opened = [each for each in outcomes if isinstance(each, Consumer)]
    if len(opened) == 2:
        eventually(lambda: any(_is_fenced(each) for each in opened), what="one fenced")
    able = [each for each in opened if not _is_fenced(each)]
    assert len(outcomes) == 2
    assert fewest <= len(able) <= 1
    for each in opened:
        each.close()
    assert take(consumer(), 1) == [str(len(able))], "and whoever comes later gets in"


def test_one_that_has_joined_and_not_been_registered_yet_counts(
    consumer, connection: Connection, topic: str
) -> None:
    """What the registry knows of the name is of the one before, who has ended."""
    with consumer(partitions=0) as before:
        take(before, 1)
    admin = clients.admin(connection)
    name = f"reader-of-{topic}"
    hold = Hold(connection, admin, Registry(connection, admin), name, Slot(topic))
    hold.take(take_over=False)
    try:
        with pytest.raises(NameHeld):
            consumer(partitions=0).open()
    finally:
        hold.release(leave=True)
    assert take(consumer(partitions=0), 1) == ["1"]


def test_a_group_whose_members_share_it_is_left_alone(consumer, topics: Topics, topic: str) -> None:
    from confluent_kafka import Consumer as Plain

    other = Plain(
        {
            "bootstrap.servers": topics.bootstrap_servers,
            "group.id": f"reader-of-{topic}",
            "auto.offset.reset": "earliest",
        }
    )
    try:
        other.subscribe([topic])
        eventually(lambda: other.poll(0.1) is not None, what="a member")
        with pytest.raises(NameHeld, match="has members that share its partitions"):
            consumer().open()
    finally:
        other.close()


def test_a_member_that_was_away_commits_nothing(connection, topics: Topics, topic: str) -> None:
    """It was thrown out and would be let in again: but somebody may have been here meanwhile."""
    Registry(connection, clients.admin(connection)).ensure()  # which members subscribe to
    member = Member(connection, f"away-{topic}", topic, 6000)
    try:
        member.wait_until_joined(30)
        member.commit({(topic, 0): 3})
        groups.remove_members(connection, f"away-{topic}", {topic: None})
        eventually(lambda: member.lost, what="a member that notices")
        assert not member.fenced, "which nobody knows yet"
        with pytest.raises(SessionOver):
            member.commit({(topic, 0): 5})
    finally:
        member.stop()
    found = groups.committed(clients.admin(connection), f"away-{topic}")
    assert found == {(topic, 0): (3, "")}
