"""Committed offsets of consumer groups, altered from outside."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from group_offsets import set_offsets
from penstock.kafka import groups
from penstock.kafka.clients import Connection, GroupAdmin, group_metadata
from penstock.kafka.groups import GroupInUse
from penstock.kafka.transactions import GroupOffsets, Transactions
from topics import Topics
from waiting import eventually


@pytest.fixture
def topic(topics: Topics, name: str) -> str:
    topics.create(name, partitions=3)
    return name


@pytest.fixture
def member(connection: Connection, topic: str) -> Iterator[Consumer]:
    """A live member of the group that has the topic's name."""
    consumer = Consumer(
        {
            "bootstrap.servers": connection.bootstrap_servers,
            "group.id": topic,
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])

    def assigned() -> list[TopicPartition]:
        consumer.poll(0.1)
        return consumer.assignment()

    eventually(assigned, within=30, what="an assignment")
    yield consumer
    consumer.close()


def test_a_group_that_does_not_exist_has_committed_nothing(admin: AdminClient, name: str) -> None:
    assert groups.committed(admin, name) == {}


def test_offsets_are_set_with_their_metadata(admin: AdminClient, topic: str) -> None:
    offsets = {(topic, 0): (10, "length=3"), (topic, 2): (0, "")}
    set_offsets(admin, topic, offsets)
    assert groups.committed(admin, topic) == offsets
    set_offsets(admin, topic, {(topic, 0): (4, "größe")})
    assert groups.committed(admin, topic) == {(topic, 0): (4, "größe"), (topic, 2): (0, "")}


def test_one_partition_is_forgotten(admin: AdminClient, connection: Connection, topic: str) -> None:
    set_offsets(admin, topic, {(topic, p): (p, "") for p in range(3)})
    groups.forget(connection, topic, [(topic, 1)])
    assert set(groups.committed(admin, topic)) == {(topic, 0), (topic, 2)}
    groups.forget(connection, topic, [])
    groups.forget(connection, topic, [(topic, 1)])
    assert set(groups.committed(admin, topic)) == {(topic, 0), (topic, 2)}


def test_the_last_partition_is_forgotten(
    admin: AdminClient, connection: Connection, topic: str
) -> None:
    set_offsets(admin, topic, {(topic, 0): (1, "")})
    groups.forget(connection, topic, [(topic, 0)])
    assert groups.committed(admin, topic) == {}
    groups.forget(connection, topic, [(topic, 0)])


def test_forgetting_what_a_group_that_does_not_exist_has_committed(
    connection: Connection, topic: str
) -> None:
    groups.forget(connection, f"{topic}-never", [(topic, 0)])


def test_a_group_is_deleted_twice(admin: GroupAdmin, topic: str) -> None:
    set_offsets(admin, topic, {(topic, 0): (1, "")})
    groups.delete(admin, topic)
    assert groups.committed(admin, topic) == {}
    groups.delete(admin, topic)
    groups.delete(admin, f"{topic}-never")


def test_a_group_with_a_member_is_in_use(
    admin: GroupAdmin, connection: Connection, topic: str, member: Consumer
) -> None:
    member.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
    before = groups.committed(admin, topic)
    with pytest.raises(GroupInUse):
        groups.forget(connection, topic, [(topic, 0)])
    with pytest.raises(GroupInUse):
        groups.delete(admin, topic)
    assert groups.committed(admin, topic) == before == {(topic, 0): (5, "")}


def test_a_group_whose_member_has_left_is_free(
    admin: AdminClient, topic: str, member: Consumer
) -> None:
    member.close()
    set_offsets(admin, topic, {(topic, 0): (1, "")})
    assert groups.committed(admin, topic) == {(topic, 0): (1, "")}


@pytest.mark.parametrize("first", [False, True])
def test_offsets_of_an_open_transaction_are_waited_for(
    admin: AdminClient, connection: Connection, topic: str, first: bool
) -> None:
    """A first offset has to be asked for by name: else the broker says nothing of it."""
    if not first:
        set_offsets(admin, topic, {(topic, 0): (1, "")})
    named = [(topic, 0), (topic, 1)] if first else []
    producer = Transactions(connection, f"task-of-{topic}")
    producer.begin()
    producer._send_offsets(GroupOffsets(group_metadata(connection, topic), [(topic, 0, 9, "m")]))
    found: list[dict[tuple[str, int], tuple[int, str]]] = []
    reader = threading.Thread(target=lambda: found.append(groups.committed(admin, topic, named)))
    reader.start()
    reader.join(1)
    assert found == []
    producer.raw.commit_transaction(20)
    reader.join(20)
    assert found == [{(topic, 0): (9, "m")}]


def test_what_a_transaction_has_committed_is_seen_at_once(
    admin: AdminClient, connection: Connection, topic: str
) -> None:
    """The broker decides a transaction some time after its commit has returned."""
    metadata = group_metadata(connection, topic)
    producer = Transactions(connection, f"task-of-{topic}")
    for offset in range(30):
        producer.commit([], [GroupOffsets(metadata, [(topic, 0, offset, "")])])
        assert groups.committed(admin, topic, [(topic, 0)]) == {(topic, 0): (offset, "")}
