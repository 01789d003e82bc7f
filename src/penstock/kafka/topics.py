"""Topics: create them, check them, get their offsets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from confluent_kafka import (
    OFFSET_INVALID,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from penstock.kafka.errors import (
    LEADERLESS,
    AccessDenied,
    BrokerUnavailable,
    KafkaFault,
    describe,
    is_denied,
)

ADMIN_TIMEOUT = 20.0


def ensure_topic(
    client: AdminClient,
    topic: str,
    *,
    partitions: int = -1,
    replication: int = -1,
    config: Mapping[str, str] | None = None,
) -> bool:
    """Create ``topic`` if it is missing, by default with the broker's settings; True if it was."""
    new = NewTopic(topic, partitions, replication, config=dict(config or {}))
    try:
        client.create_topics([new])[topic].result(ADMIN_TIMEOUT)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
        return False
    return True


def partitions_of(client: AdminClient, topics: Iterable[str]) -> dict[str, int]:
    """Partition counts; 0 for a topic that does not exist."""
    wanted = list(topics)
    try:
        # Asking for one topic by name would create it where the broker allows that.
        known = client.list_topics(timeout=ADMIN_TIMEOUT).topics
    except KafkaException as error:
        raise BrokerUnavailable(describe(error)) from error
    return {t: len(known[t].partitions) if t in known else 0 for t in wanted}


def all_topics(client: AdminClient) -> dict[str, int]:
    """Every topic with its partition count."""
    try:
        known = client.list_topics(timeout=ADMIN_TIMEOUT).topics
    except KafkaException as error:
        raise BrokerUnavailable(describe(error)) from error
    return {name: len(meta.partitions) for name, meta in known.items()}


def refuse_hidden(client: AdminClient, topics: Iterable[str]) -> None:
    """AccessDenied if an ACL hides one of these: in a listing it would seem not to exist."""
    wanted = TopicCollection(list(topics))
    if not wanted.topic_names:
        return
    # Unlike a metadata request, this never creates them.
    asked = client.describe_topics(wanted, request_timeout=ADMIN_TIMEOUT)
    for topic, future in asked.items():
        try:
            future.result(ADMIN_TIMEOUT + 5)
        except KafkaException as error:
            if is_denied(error):
                raise AccessDenied(f"see topic {topic}", error) from error


def ids(client: AdminClient, topics: Iterable[str], *, hidden: str | None = None) -> dict[str, str]:
    """Topic ids, which distinguish a topic from a deleted one of the same name; none if missing.

    Topics that an ACL hides from us have ``hidden`` as their id, if that is given.
    """
    wanted = TopicCollection(list(topics))
    found: dict[str, str] = {}
    if not wanted.topic_names:
        return found
    asked = client.describe_topics(wanted, request_timeout=ADMIN_TIMEOUT)
    for topic, future in asked.items():
        try:
            found[topic] = str(future.result(ADMIN_TIMEOUT + 5).topic_id)
        except KafkaException as error:
            if hidden is not None and is_denied(error):
                found[topic] = hidden
            elif error.args[0].code() not in GONE:
                raise unavailable(error) from error
        except TimeoutError:
            raise BrokerUnavailable(f"no broker has answered about topic {topic}") from None
    return found


PartitionId = tuple[str, int]


def ends(
    client: AdminClient, partitions: Iterable[PartitionId], *, committed: bool
) -> dict[PartitionId, int]:
    """End offsets: the last stable offset if ``committed``, otherwise the high watermark.

    A partition that the broker cannot answer for is left out.
    """
    level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
    return _list_offsets(client, partitions, OffsetSpec.latest(), level)


def beginnings(client: AdminClient, partitions: Iterable[PartitionId]) -> dict[PartitionId, int]:
    """The first offset that partitions still hold."""
    return _list_offsets(client, partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)


def at_time(
    client: AdminClient, partitions: Iterable[PartitionId], milliseconds: int
) -> dict[PartitionId, int]:
    """The first offset at or after a time; without the partitions that have none."""
    spec = OffsetSpec.for_timestamp(milliseconds)
    found = _list_offsets(client, partitions, spec, IsolationLevel.READ_UNCOMMITTED)
    return {position: offset for position, offset in found.items() if offset >= 0}


def _list_offsets(
    client: AdminClient,
    partitions: Iterable[PartitionId],
    spec: OffsetSpec,
    level: IsolationLevel,
) -> dict[PartitionId, int]:
    left = set(partitions)
    found: dict[PartitionId, int] = {}
    deadline = time.monotonic() + ADMIN_TIMEOUT
    while left:
        asked = {TopicPartition(t, p): spec for t, p in left}
        left = set()
        futures = client.list_offsets(asked, isolation_level=level, request_timeout=ADMIN_TIMEOUT)
        for tp, future in futures.items():
            try:
                offset = future.result(ADMIN_TIMEOUT).offset
                if offset == OFFSET_INVALID:  # the leader of the partition is unreachable
                    raise BrokerUnavailable(f"no broker has answered about topic {tp.topic}")
                found[(tp.topic, tp.partition)] = offset
            except KafkaException as error:
                code = error.args[0].code()
                if is_denied(error):
                    raise AccessDenied(f"see topic {tp.topic}", error) from error
                if code not in GONE | LEADERLESS or time.monotonic() > deadline:
                    raise BrokerUnavailable(describe(error)) from error
                if code in LEADERLESS:
                    left.add((tp.topic, tp.partition))
            except TimeoutError:  # happens to a process that was frozen
                raise BrokerUnavailable(f"no broker has answered about topic {tp.topic}") from None
        if left:
            time.sleep(0.05)
            # The client would keep using its cached leader of the partition.
            all_topics(client)
    return found


GONE = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC})


def unavailable(error: KafkaException) -> KafkaFault:
    """The fault for an error of a request about topics."""
    if is_denied(error):
        return AccessDenied("see topics", error)
    return BrokerUnavailable(describe(error))
