"""Topics: create, check, and ask where they end."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, ResourceType

from penstock.kafka.errors import (
    LEADERLESS,
    AccessDenied,
    BrokerUnavailable,
    KafkaFault,
    describe,
    is_denied,
)

ADMIN_TIMEOUT = 20.0


def ensure_compacted(
    client: AdminClient,
    topic: str,
    *,
    partitions: int,
    replication: int = -1,
    settings: Mapping[str, str] | None = None,
    single: bool = False,
) -> int:
    """Create ``topic`` compacted if it is missing; its number of partitions.

    A topic that exists and is not compacted is refused: it would forget what we store in it. So
    is one with more than one partition if it must be a ``single`` one: its order would be lost.
    """
    config = {**(settings or {}), "cleanup.policy": "compact"}
    new = NewTopic(topic, partitions, replication, config=config)
    try:
        client.create_topics([new], operation_timeout=ADMIN_TIMEOUT)[topic].result(ADMIN_TIMEOUT)
    except KafkaException as error:
        # Who may not create topics is told just that, also of one that exists.
        if is_denied(error) and not partitions_of(client, [topic])[topic]:
            raise AccessDenied(f"see or create topic {topic}", error) from error
        if not is_denied(error) and error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise BrokerUnavailable(f"cannot create topic {topic}: {describe(error)}") from error
        _refuse_unless_compacted(client, topic)
    except TimeoutError as error:
        raise BrokerUnavailable(
            f"No Kafka broker answered within {ADMIN_TIMEOUT:.0f} s. Check bootstrap.servers "
            "(--bootstrap-servers), and that the brokers run and can be reached from here."
        ) from error
    found = partitions_of(client, [topic])[topic]
    if single and found > 1:
        raise KafkaFault(_too_many(topic, found))
    return found or partitions


def _refuse_unless_compacted(client: AdminClient, topic: str) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    try:
        entries = client.describe_configs([resource])[resource].result(ADMIN_TIMEOUT)
    except KafkaException as error:
        if is_denied(error):
            raise AccessDenied(f"see the settings of topic {topic}", error) from error
        raise
    policy = entries["cleanup.policy"].value
    if policy != "compact":
        raise KafkaFault(
            f"Topic '{topic}' has cleanup.policy={policy}, but state is kept there, which "
            "needs cleanup.policy=compact. Change it with: kafka-configs.sh --bootstrap-server "
            f"HOST:PORT --alter --entity-type topics --entity-name {topic} "
            "--add-config cleanup.policy=compact"
        )


def _too_many(topic: str, partitions: int) -> str:
    return (
        f"Topic '{topic}' has {partitions} partitions, but the order of all its records counts and "
        "it must have exactly one. Partitions cannot be taken away: name another topic in the "
        "worker's configuration or, if nothing in this one is needed, delete it and start again, "
        "which makes it anew: kafka-topics.sh --bootstrap-server HOST:PORT --delete "
        f"--topic {topic}"
    )


def ensure_topic(
    client: AdminClient,
    topic: str,
    *,
    partitions: int = -1,
    replication: int = -1,
    config: Mapping[str, str] | None = None,
) -> bool:
    """Create ``topic`` if it is missing, where not told with the broker's defaults; if it was."""
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
    """AccessDenied if an ACL hides one of these: in a list it looks as if it did not exist."""
    wanted = TopicCollection(list(topics))
    if not wanted.topic_names:
        return
    # Unlike a question for their metadata, this one never creates them.
    asked = client.describe_topics(wanted, request_timeout=ADMIN_TIMEOUT)
    for topic, future in asked.items():
        try:
            future.result(ADMIN_TIMEOUT + 5)
        except KafkaException as error:
            if is_denied(error):
                raise AccessDenied(f"see topic {topic}", error) from error


def ids(client: AdminClient, topics: Iterable[str], *, hidden: str | None = None) -> dict[str, str]:
    """What tells topics from others that had their names before; without those that are gone.

    Of topics that an ACL keeps from us it is ``hidden``, if that is given.
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
            raise BrokerUnavailable(f"nobody has answered about topic {topic}") from None
    return found


Position = tuple[str, int]


def ends(
    client: AdminClient, partitions: Iterable[Position], *, committed: bool
) -> dict[Position, int]:
    """Where partitions end now: the last stable offset if ``committed``, else the high watermark.

    A partition that the broker cannot answer for is left out.
    """
    level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
    return _list_offsets(client, partitions, OffsetSpec.latest(), level)


def beginnings(client: AdminClient, partitions: Iterable[Position]) -> dict[Position, int]:
    """The first offset that partitions still hold."""
    return _list_offsets(client, partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)


def at_time(
    client: AdminClient, partitions: Iterable[Position], milliseconds: int
) -> dict[Position, int]:
    """The first offset at or after a time; without the partitions that have none."""
    spec = OffsetSpec.for_timestamp(milliseconds)
    found = _list_offsets(client, partitions, spec, IsolationLevel.READ_UNCOMMITTED)
    return {position: offset for position, offset in found.items() if offset >= 0}


def _list_offsets(
    client: AdminClient,
    partitions: Iterable[Position],
    spec: OffsetSpec,
    level: IsolationLevel,
) -> dict[Position, int]:
    left = set(partitions)
    found: dict[Position, int] = {}
    deadline = time.monotonic() + ADMIN_TIMEOUT
    while left:
        asked = {TopicPartition(t, p): spec for t, p in left}
        left = set()
        futures = client.list_offsets(asked, isolation_level=level, request_timeout=ADMIN_TIMEOUT)
        for tp, future in futures.items():
            try:
                found[(tp.topic, tp.partition)] = future.result(ADMIN_TIMEOUT).offset
            except KafkaException as error:
                code = error.args[0].code()
                if is_denied(error):
                    raise AccessDenied(f"see topic {tp.topic}", error) from error
                if code not in GONE | LEADERLESS or time.monotonic() > deadline:
                    raise BrokerUnavailable(describe(error)) from error
                if code in LEADERLESS:
                    left.add((tp.topic, tp.partition))
            except TimeoutError:  # as happens to a process that was frozen meanwhile
                raise BrokerUnavailable(f"nobody has answered about topic {tp.topic}") from None
        if left:
            time.sleep(0.05)
            # The client would go on believing what it has heard of the partition's leader.
            all_topics(client)
    return found


GONE = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC})


def unavailable(error: KafkaException) -> KafkaFault:
    """The fault that an error of a question about topics means."""
    if is_denied(error):
        return AccessDenied("see topics", error)
    return BrokerUnavailable(describe(error))
