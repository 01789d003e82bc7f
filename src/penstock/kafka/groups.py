"""Committed offsets of consumer groups: list, alter, delete."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from penstock.kafka.topics import ADMIN_TIMEOUT, PartitionId

Committed = tuple[int, str]
"""An offset and the metadata text it was committed with."""

UNSTABLE_PAUSE = 0.02
COMING_PAUSE = 0.1
COORDINATOR_TIMEOUT = 10.0
NEVER: dict[str, Any] = {"request_timeout": 3600.0}
"""A request to a coordinator must not time out inside the client: a response that comes afterwards
crashes the process (librdkafka issue 4605). A worker that was frozen for a while and thaws gets
both at once. So the timeout is handled here. What changes something has a client of its own, which
ends with the caller's patience: nothing is changed behind its back."""

T = TypeVar("T")


class GroupInUse(KafkaFault):
    """The group has members, so its offsets cannot be changed from outside."""


class _Coming(BrokerUnavailable):
    """The coordinator is not available yet."""


_IN_USE = frozenset({KafkaError.NON_EMPTY_GROUP, KafkaError.UNKNOWN_MEMBER_ID})
_COMING = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    }
)
"""Errors while a coordinator is not available yet, as for the first group of a new cluster."""
_NO_GROUP = frozenset({KafkaError.GROUP_ID_NOT_FOUND, KafkaError.INVALID_GROUP_ID})


def committed(
    client: AdminClient, group: str, partitions: Iterable[PartitionId] = ()
) -> dict[PartitionId, Committed]:
    """What ``group`` has committed, once its pending transactions have completed.

    A transaction completes some time after its commit has returned. Until then the broker leaves
    a partition's first offset out of the list, so ``partitions`` are also requested by name.
    """
    named = [TopicPartition(t, p) for t, p in partitions]
    deadline = time.monotonic() + ADMIN_TIMEOUT
    while True:
        found = _patiently(client, lambda: _committed(client, group, named))
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


def _committed(client: AdminClient, group: str, named: list[TopicPartition]) -> list[Any]:
    # Both at once: fetching a group's offsets takes some 50 ms.
    asked = [_ask(client, group, None), *([_ask(client, group, named)] if named else ())]
    return [partition for answer in asked for partition in answer()]


def _ask(
    client: AdminClient, group: str, partitions: list[TopicPartition] | None
) -> Callable[[], Sequence[Any]]:
    """Request a group's offsets; returns a function that waits for the answer."""
    asked, wait = _request(client, group, partitions)

    def answer() -> Sequence[Any]:
        try:
            return wait()
        except TimeoutError:
            raise _no_answer(client, asked) from None
        except KafkaException as error:
            if error.args[0].code() in _NO_GROUP:
                return []
            raise _fault(client, group, error) from error

    return answer


def _request(
    client: AdminClient, group: str, partitions: list[TopicPartition] | None
) -> tuple[object, Callable[[], Sequence[Any]]]:
    """The client, to be kept until the answer arrives, and a function that waits for it."""
    fetcher = client.offsets() if isinstance(client, GroupAdmin) else None
    if fetcher is not None:
        asked = fetcher.ask(group, partitions)
        return fetcher, lambda: asked.answer(COORDINATOR_TIMEOUT)
    coordinators = _coordinators(client)
    request = ConsumerGroupTopicPartitions(group, partitions)
    future = coordinators.list_consumer_group_offsets([request], require_stable=True, **NEVER)
    return coordinators, lambda: future[group].result(COORDINATOR_TIMEOUT).topic_partitions


def members(client: AdminClient, group: str) -> set[str]:
    """The ids of the members that ``group`` has now."""
    return {str(member.member_id) for member in _members(client, group)}


def _members(client: AdminClient, group: str) -> list[MemberDescription]:
    return _patiently(client, lambda: _described(client, group))


def _described(client: AdminClient, group: str) -> list[MemberDescription]:
    coordinators = _coordinators(client)
    try:
        future = coordinators.describe_consumer_groups([group], **NEVER)
        return list(_answer(client, coordinators, future[group]).members)
    except KafkaException as error:
        if error.args[0].code() in _NO_GROUP:
            return []
        raise _fault(client, group, error) from error


@dataclass(frozen=True)
class GroupMember:
    """A member of a group."""

    id: str
    instance: str | None
    """The instance id of a static member."""
    topics: frozenset[str]
    """The topics whose partitions it has now; none during a rebalance."""


def described_members(client: AdminClient, group: str) -> list[GroupMember]:
    """The current members of ``group``, and what they read."""
    return [
        GroupMember(str(each.member_id), each.group_instance_id, _topics(each))
        for each in _members(client, group)
    ]


def _topics(member: MemberDescription) -> frozenset[str]:
    return frozenset(each.topic for each in member.assignment.topic_partitions)


def static_members(client: AdminClient, group: str) -> dict[str | None, str]:
    """The current members of ``group``, by instance id; None for members without one."""
    return {member.group_instance_id: str(member.member_id) for member in _members(client, group)}


def remove_members(connection: Connection, group: str, members: Mapping[str, str | None]) -> None:
    """Remove static members, by instance id; members already gone are no error.

    With a member id, the instance is removed only if it is still that member.
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


def delete(client: GroupAdmin, group: str) -> None:
    """Delete everything ``group`` has committed; a missing group is no error.

    What a broker has not received when this raises, it never gets.
    """
    with client.while_wanted() as asked:
        _patiently(client, lambda: _delete(client, asked, group))


def _delete(client: GroupAdmin, asked: AdminClient, group: str) -> None:
    try:
        future = asked.delete_consumer_groups([group], **NEVER)
        _answer(client, asked, future[group])
    except KafkaException as error:
        if error.args[0].code() not in _NO_GROUP:
            raise _fault(client, group, error) from error


def forget(connection: Connection, group: str, partitions: Iterable[PartitionId]) -> None:
    """Delete the committed offsets of some partitions of an empty group."""
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
    """The fault for an error of kafka-python, whose error codes are Kafka's."""
    if error.errno in DENIED:
        return AccessDenied(what, KafkaError(error.errno))
    return BrokerUnavailable(str(error))


def _fault(client: AdminClient, group: str, error: KafkaException) -> KafkaFault:
    if is_denied(error):
        return AccessDenied(f"use group {group}", error)
    if error.args[0].code() in _IN_USE:
        return GroupInUse(describe(error))
    if error.args[0].code() in _COMING:
        return _Coming(describe(error))
    _forget(client)
    return BrokerUnavailable(describe(error))


def _patiently(client: AdminClient, ask: Callable[[], T]) -> T:
    """The answer of a coordinator that may not be available yet; retries have no side effects."""
    deadline = time.monotonic() + COORDINATOR_TIMEOUT
    while True:
        try:
            return ask()
        except _Coming:
            if time.monotonic() > deadline:
                _forget(client)
                raise
        time.sleep(COMING_PAUSE)


def _answer(client: AdminClient, coordinators: AdminClient, future: Future[T]) -> T:
    try:
        return future.result(COORDINATOR_TIMEOUT)
    except TimeoutError:
        raise _no_answer(client, coordinators) from None


def _no_answer(client: AdminClient, asked: object) -> BrokerUnavailable:
    _forget(client, asked)
    return BrokerUnavailable(f"the coordinator did not answer within {COORDINATOR_TIMEOUT:.0f} s")


def _forget(client: AdminClient, asked: object = None) -> None:
    if isinstance(client, GroupAdmin):
        client.forget_coordinators(asked)


def _coordinators(client: AdminClient) -> AdminClient:
    """Keep this until the answer arrives: the answer is lost if the client is destroyed."""
    return client.coordinators() if isinstance(client, GroupAdmin) else client
