"""What a worker writes into a sink's group: never what others have moved meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer

from penstock.engine.lease.lease import Membership
from penstock.kafka import groups
from penstock.kafka.clients import Connection, GroupAdmin, group_metadata
from penstock.kafka.errors import LeaseLost
from penstock.kafka.groups import GroupInUse
from penstock.kafka.membership import GroupMember, Joined
from penstock.kafka.names import transactional_id, worker_topic
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.runtime.running.sink_writes import SinkWrites
from raw_records import read_records
from topics import Topics
from waiting import eventually

TASKS = 2


@pytest.fixture
def sink(topics: Topics, name: str) -> SinkGroup:
    """A sink that has read up to 4."""
    topics.create(name)
    topics.create(worker_topic(name))
    return SinkGroup(name, f"connect-{name}")


@pytest.fixture
def worker(connection: Connection, sink: SinkGroup) -> Iterator[GroupMember]:
    """A member of the cluster that is named as the sink is."""
    joined: list[Joined] = []
    membership = GroupMember(
        connection,
        sink.connector,
        worker_topic(sink.connector),
        on_joined=joined.append,
        on_elected=lambda: None,
        on_deposed=lambda: None,
        timings={},
    )
    membership.start()
    eventually(lambda: joined, what="a membership")
    membership.known_as = joined[-1]  # type: ignore[attr-defined] # for the context
    yield membership
    membership.stop()


@pytest.fixture
def context(
    connection: Connection, group_admin: GroupAdmin, sink: SinkGroup, worker: GroupMember
) -> Any:
    """As much of a worker's as writing takes."""
    metadata = worker.known_as.metadata  # type: ignore[attr-defined] # set above
    standing = Membership(metadata, worker_topic(sink.connector))
    return SimpleNamespace(
        connection=connection,
        admin=group_admin,
        configs=SimpleNamespace(fenced_tasks=lambda _: TASKS),
        worker=SimpleNamespace(group_id=sink.connector),
        membership=lambda: standing,
    )


def test_offsets_and_records_are_written_together(
    context: Any, group_admin: GroupAdmin, topics: Topics, sink: SinkGroup
) -> None:
    place = {(sink.connector, 0): (4, "length=3")}
    SinkWrites(context, sink).write(place, [(worker_topic(sink.connector), b"key", b"copy", 0)])
    assert groups.committed(group_admin, sink.group_id, place) == place
    assert (b"key", b"copy") in read_records(topics, worker_topic(sink.connector))


@pytest.mark.parametrize("task", range(TASKS))
def test_whoever_is_frozen_between_reading_and_writing_changes_nothing(
    context: Any, connection: Connection, group_admin: GroupAdmin, sink: SinkGroup, task: int
) -> None:
    """Meanwhile the sink was given to another, whose lease has gone on."""
    frozen = SinkWrites(context, sink)
    read = {(sink.connector, 0): (4, "")}
    heirs = [
        Transactions(connection, transactional_id(sink.connector, sink.connector, number))
        for number in range(TASKS)
    ]
    metadata = group_metadata(connection, sink.group_id)
    heirs[task].commit([], [GroupOffsets(metadata, [(sink.connector, 0, 9, "")])])
    with pytest.raises(LeaseLost):
        frozen.write(read)
    place = {(sink.connector, 0): (9, "")}
    assert groups.committed(group_admin, sink.group_id, read) == place


def test_a_lease_that_was_left_behind_is_fenced_before_anything_is_read(
    context: Any, connection: Connection, sink: SinkGroup
) -> None:
    left = [
        Transactions(connection, transactional_id(sink.connector, sink.connector, number))
        for number in range(TASKS)
    ]
    SinkWrites(context, sink)
    metadata = group_metadata(connection, sink.group_id)
    for lease in left:
        with pytest.raises(LeaseLost):
            lease.commit([], [GroupOffsets(metadata, [(sink.connector, 0, 5, "")])])


def test_a_worker_that_was_replaced_writes_nothing(
    context: Any, group_admin: GroupAdmin, sink: SinkGroup, worker: GroupMember
) -> None:
    """Whatever it re-initialises: its producer is the newest."""
    worker.stop()
    with pytest.raises(LeaseLost):
        SinkWrites(context, sink).write({(sink.connector, 0): (4, "")})
    assert groups.committed(group_admin, sink.group_id, [(sink.connector, 0)]) == {}


def test_a_group_with_members_is_left_alone(
    context: Any, connection: Connection, group_admin: GroupAdmin, sink: SinkGroup
) -> None:
    stranger = Consumer(
        {"bootstrap.servers": connection.bootstrap_servers, "group.id": sink.group_id}
    )
    stranger.subscribe([sink.connector])
    try:
        eventually(lambda: stranger.poll(0.1) or stranger.assignment(), what="a member")
        with pytest.raises(GroupInUse):
            SinkWrites(context, sink).write({(sink.connector, 0): (4, "")})
    finally:
        stranger.close()
    assert groups.committed(group_admin, sink.group_id, [(sink.connector, 0)]) == {}
