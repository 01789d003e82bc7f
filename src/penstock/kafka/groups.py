"""Committed offsets of consumer groups: list, alter, delete."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, MemberDescription

from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import (
    DENIED,
    AccessDenied,
    BrokerUnavailable,
    KafkaFault,
    describe,
    is_denied,
)
from penstock.kafka.topics import ADMIN_TIMEOUT, Position

Committed = tuple[int, str]
"""An offset and the metadata text it was committed with."""

UNSTABLE_PAUSE = 0.02
COORDINATOR_TIMEOUT = 10.0
NEVER: dict[str, Any] = {"request_timeout": 3600.0}
"""A request to a coordinator must not time out inside the client: an answer that comes afterwards
ends the whole process (librdkafka issue 4605). A worker that was frozen for a while and thaws finds
both at once. So the waiting, and the giving up, is done here."""

T = TypeVar("T")

_waiting: set[AdminClient] = set()
"""Clients that were given up, until they have their answer."""


class GroupInUse(KafkaFault):
    """The group has members, so its offsets cannot be changed from outside."""


_IN_USE = frozenset({KafkaError.NON_EMPTY_GROUP, KafkaError.UNKNOWN_MEMBER_ID})
_COMING = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    }
)
"""What a cluster answers whose coordinator is about to be there: the first group of a new one."""
_NO_GROUP = frozenset({KafkaError.GROUP_ID_NOT_FOUND, KafkaError.INVALID_GROUP_ID})


def committed(
    client: AdminClient, group: str, partitions: Iterable[Position] = ()
) -> dict[Position, Committed]:
    """What ``group`` has committed, once its pending transactions are decided.

    A transaction is decided some time after its commit has returned. Until then the broker leaves
    a partition's first offset out of the list: ``partitions`` are asked for by name as well.
    """
    named = [TopicPartition(t, p) for t, p in partitions]
    deadline = time.monotonic() + ADMIN_TIMEOUT
    while True:
        # Both at once: asking for a group's offsets takes some 50 ms.
        asked = [_ask(client, group, None), *([_ask(client, group, named)] if named else ())]
        found = [partition for answer in asked for partition in answer()]
        errors = [tp.error for tp in found if tp.error is not None]
        if not errors:
            return {
                (tp.topic, tp.partition): (tp.offset, tp.metadata or "")
                for tp in found
                if tp.offset >= 0
            }
        if errors[0].code() in DENIED:
            raise AccessDenied(f"see offsets of group {group}", errors[0])
        unstable = all(e.code() == KafkaError.UNSTABLE_OFFSET_COMMIT for e in errors)
        if not unstable or time.monotonic() > deadline:
            raise BrokerUnavailable(describe(errors[0]))
        time.sleep(UNSTABLE_PAUSE)


def _ask(
    client: AdminClient, group: str, partitions: list[TopicPartition] | None
) -> Callable[[], list[TopicPartition]]:
    """Ask for a group's offsets; what is returned waits for the answer."""
    request = ConsumerGroupTopicPartitions(group, partitions)
    coordinators = _coordinators(client)
    future = coordinators.list_consumer_group_offsets([request], require_stable=True, **NEVER)

    def answer() -> list[TopicPartition]:
        try:
            return list(_answer(client, coordinators, future[group]).topic_partitions)
        except KafkaException as error:
            if error.args[0].code() in _NO_GROUP:
                return []
            raise _fault(client, group, error) from error

    return answer


def recommit(client: AdminClient, group: str, offsets: Mapping[Position, Committed]) -> None:
    """Set the offsets of an empty group with their metadata; GroupInUse if it has members."""
    if not offsets:
        return
    wanted = [TopicPartition(t, p, o, metadata=m) for (t, p), (o, m) in offsets.items()]
    coordinators = _coordinators(client)
    try:
        request = ConsumerGroupTopicPartitions(group, wanted)
        future = coordinators.alter_consumer_group_offsets([request], **NEVER)
        result = _answer(client, coordinators, future[group])
    except KafkaException as error:
        raise _fault(client, group, error) from error
    for tp in result.topic_partitions:
        if tp.error is not None:
            raise _fault(client, group, KafkaException(tp.error))


def members(client: AdminClient, group: str) -> set[str]:
    """The ids of the members that ``group`` has now."""
    return {str(member.member_id) for member in _members(client, group)}


def _members(client: AdminClient, group: str) -> list[MemberDescription]:
    deadline = time.monotonic() + COORDINATOR_TIMEOUT
    while True:
        coordinators = _coordinators(client)
        try:
            future = coordinators.describe_consumer_groups([group], **NEVER)
            return list(_answer(client, coordinators, future[group]).members)
        except KafkaException as error:
            code = error.args[0].code()
            if code in _NO_GROUP:
                return []
            if code not in _COMING or time.monotonic() > deadline:
                raise _fault(client, group, error) from error
        time.sleep(UNSTABLE_PAUSE)


@dataclass(frozen=True)
class GroupMember:
    """A member of a group."""

    id: str
    instance: str | None
    """What a static member calls itself."""
    topics: frozenset[str]
    """Of which it has partitions at this moment; none while the group is changing."""


def described_members(client: AdminClient, group: str) -> list[GroupMember]:
    """The members that ``group`` has now, and what they read."""
    return [
        GroupMember(str(each.member_id), each.group_instance_id, _topics(each))
        for each in _members(client, group)
    ]


def _topics(member: MemberDescription) -> frozenset[str]:
    return frozenset(each.topic for each in member.assignment.topic_partitions)


def static_members(client: AdminClient, group: str) -> dict[str | None, str]:
    """The members that ``group`` has now, by their instance ids; one without has None."""
    return {member.group_instance_id: str(member.member_id) for member in _members(client, group)}


def remove_members(connection: Connection, group: str, members: Mapping[str, str | None]) -> None:
    """Have static members leave, by their instance ids; those that are gone are fine.

    With a member's id, it leaves only if the instance is still that member.
    """
    # Imported here: only this rare call needs it, and confluent-kafka cannot do it.
    from kafka import errors
    from kafka.admin import KafkaAdminClient, MemberToRemove

    leaving = [
        MemberToRemove(group_instance_id=instance, member_id=member)
        for instance, member in members.items()
    ]
    if not leaving:
        return
    try:
        client = KafkaAdminClient(**connection.kafka_python_settings())
        try:
            client.remove_group_members(group, leaving)
        finally:
            client.close()
    except (errors.UnknownMemberIdError, errors.GroupIdNotFoundError):
        return
    except errors.KafkaError as error:
        raise _refused(f"change group {group}", error) from error


def delete(client: AdminClient, group: str) -> None:
    """Forget everything ``group`` has committed; a group that does not exist is fine."""
    coordinators = _coordinators(client)
    try:
        future = coordinators.delete_consumer_groups([group], **NEVER)
        _answer(client, coordinators, future[group])
    except KafkaException as error:
        if error.args[0].code() not in _NO_GROUP:
            raise _fault(client, group, error) from error


def forget(connection: Connection, group: str, partitions: Iterable[Position]) -> None:
    """Forget the committed offsets of some partitions of an empty group."""
    # Imported here: only this rare call needs it, and confluent-kafka cannot do it.
    from kafka import TopicPartition as KafkaPythonPartition
    from kafka import errors
    from kafka.admin import KafkaAdminClient

    wanted = [KafkaPythonPartition(t, p) for t, p in partitions]
    if not wanted:
        return
    try:
        client = KafkaAdminClient(**connection.kafka_python_settings())
        try:
            outcomes = client.delete_group_offsets(group, wanted)
        finally:
            client.close()
    except (errors.NonEmptyGroupError, errors.GroupSubscribedToTopicError) as error:
        raise GroupInUse(str(error)) from error
    except errors.GroupIdNotFoundError:
        return
    except errors.KafkaError as error:
        raise _refused(f"delete offsets of group {group}", error) from error
    for (topic, _), outcome in outcomes.items():
        if outcome is errors.GroupSubscribedToTopicError:
            raise GroupInUse(outcome.__name__)
        if outcome not in (errors.NoError, errors.UnknownTopicOrPartitionError):
            raise _refused(f"delete offsets of topic {topic}", outcome())


def _refused(what: str, error: Any) -> KafkaFault:
    """What an error of kafka-python's means, whose numbers are Kafka's, as our client's are."""
    if error.errno in DENIED:
        return AccessDenied(what, KafkaError(error.errno))
    return BrokerUnavailable(str(error))


def _fault(client: AdminClient, group: str, error: KafkaException) -> KafkaFault:
    if is_denied(error):
        return AccessDenied(f"use group {group}", error)
    if error.args[0].code() in _IN_USE:
        return GroupInUse(describe(error))
    if isinstance(client, GroupAdmin):
        client.forget_coordinators()
    return BrokerUnavailable(describe(error))


def _answer(client: AdminClient, coordinators: AdminClient, future: Future[T]) -> T:
    try:
        return future.result(COORDINATOR_TIMEOUT)
    except TimeoutError:
        _waiting.add(coordinators)  # else it would be closed over its request
        future.add_done_callback(lambda _: _waiting.discard(coordinators))
        if isinstance(client, GroupAdmin):
            client.forget_coordinators()
        raise BrokerUnavailable(
            f"the coordinator did not answer within {COORDINATOR_TIMEOUT:.0f} s"
        ) from None


def _coordinators(client: AdminClient) -> AdminClient:
    """To be kept until the answer is there: a client that nobody holds takes it along."""
    return client.coordinators() if isinstance(client, GroupAdmin) else client
