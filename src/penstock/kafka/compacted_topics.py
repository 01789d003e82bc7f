"""Compacted topics for state: created if missing, checked, and waited for.

Workers of a new cluster start at the same moment, and each of them creates the topics. One
succeeds, the others get TOPIC_ALREADY_EXISTS; but brokers learn of the topic one by one, and for a
moment may answer that it is unknown, or that a partition has no leader. So requests about a topic
are retried until they are answered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from penstock.kafka import topics
from penstock.kafka.errors import (
    PASSING,
    AccessDenied,
    BrokerUnavailable,
    KafkaFault,
    describe,
    is_denied,
)
from penstock.kafka.topics import ADMIN_TIMEOUT, GONE

RETRY_SECONDS = 0.1
SOON = PASSING | GONE | {KafkaError.NOT_CONTROLLER}
"""What a cluster answers about a topic that was just created, or while it is starting."""

T = TypeVar("T")


def ensure_compacted(
    client: AdminClient,
    topic: str,
    *,
    partitions: int,
    replication: int = -1,
    settings: Mapping[str, str] | None = None,
    single: bool = False,
) -> int:
    """Create ``topic``, compacted, if it is missing; returns its number of partitions, all ready.

    An existing topic that is not compacted is rejected: it would lose what we store in it. So
    is one with several partitions if ``single`` is set: the order of its records would be lost.
    """
    config = {**(settings or {}), "cleanup.policy": "compact"}
    new = NewTopic(topic, partitions, replication, config=config)
    deadline = time.monotonic() + ADMIN_TIMEOUT
    if not _created(client, new, deadline):
        _refuse_unless_compacted(client, topic, deadline)
    found = _wait_until_ready(client, topic, deadline)
    if single and found > 1:
        raise KafkaFault(too_many(topic, found))
    return found


def _created(client: AdminClient, new: NewTopic, deadline: float) -> bool:
    """Whether it was missing."""
    try:
        _insist(lambda: _create(client, new), deadline)
    except KafkaException as error:
        # Without the permission to create topics, this is the error even if the topic exists.
        if is_denied(error) and not topics.partitions_of(client, [new.topic])[new.topic]:
            raise AccessDenied(f"see or create topic {new.topic}", error) from error
        if is_denied(error) or error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        raise BrokerUnavailable(f"cannot create topic {new.topic}: {describe(error)}") from error
    except TimeoutError as error:
        raise BrokerUnavailable(
            f"No Kafka broker answered within {ADMIN_TIMEOUT:.0f} s. Check bootstrap.servers "
            "(--bootstrap-servers), and that the brokers are running and reachable from here."
        ) from error
    return True


def _create(client: AdminClient, new: NewTopic) -> None:
    asked = client.create_topics([new], operation_timeout=ADMIN_TIMEOUT)
    asked[new.topic].result(ADMIN_TIMEOUT)


def _insist(ask: Callable[[], T], deadline: float) -> T:
    """The answer; KafkaException if the error is permanent, or still there after the timeout."""
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in SOON or time.monotonic() > deadline:
                raise
        time.sleep(RETRY_SECONDS)


def _refuse_unless_compacted(client: AdminClient, topic: str, deadline: float) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    try:
        entries = _insist(
            lambda: client.describe_configs([resource])[resource].result(ADMIN_TIMEOUT), deadline
        )
    except KafkaException as error:
        if is_denied(error):
            raise AccessDenied(f"see the settings of topic {topic}", error) from error
        raise BrokerUnavailable(
            f"cannot read the settings of topic {topic}: {describe(error)}"
        ) from error
    except TimeoutError:
        raise BrokerUnavailable(f"no broker has answered about topic {topic}") from None
    policy = entries["cleanup.policy"].value
    if policy != "compact":
        raise KafkaFault(
            f"Topic '{topic}' has cleanup.policy={policy}, but state is stored there, which "
            "requires cleanup.policy=compact. Change it with: kafka-configs.sh --bootstrap-server "
            f"HOST:PORT --alter --entity-type topics --entity-name {topic} "
            "--add-config cleanup.policy=compact"
        )


def _wait_until_ready(client: AdminClient, topic: str, deadline: float) -> int:
    """The number of partitions, once the topic is listed and each of them has a leader."""
    while not (leaders := _leaders(client, topic)) or min(leaders) < 0:
        if not leaders:
            topics.refuse_hidden(client, [topic])
        if time.monotonic() > deadline:
            raise BrokerUnavailable(
                f"topic {topic} exists, but after {ADMIN_TIMEOUT:.0f} s some of its partitions "
                "still have no leader. Check that the brokers are healthy, then start again."
            )
        time.sleep(RETRY_SECONDS)
    return len(leaders)


def _leaders(client: AdminClient, topic: str) -> list[int]:
    """The leader of each partition, -1 where there is none."""
    try:
        # Asking for one topic by name would create it where the broker allows that.
        known = client.list_topics(timeout=ADMIN_TIMEOUT).topics
    except KafkaException as error:
        raise BrokerUnavailable(describe(error)) from error
    return [each.leader for each in known[topic].partitions.values()] if topic in known else []


def partitions_now(client: AdminClient, topic: str, timeout: float = ADMIN_TIMEOUT) -> int:
    """The number of partitions, ready or not; 0 if there is no such topic."""
    # Unlike a metadata request, this never creates the topic.
    asked = client.describe_topics(TopicCollection([topic]), request_timeout=timeout)
    try:
        return len(asked[topic].result(timeout + 5).partitions)
    except KafkaException as error:
        if error.args[0].code() in GONE:
            return 0
        raise topics.unavailable(error) from error
    except TimeoutError:
        raise BrokerUnavailable(f"no broker has answered about topic {topic}") from None


def too_many(topic: str, partitions: int) -> str:
    """The message for a topic that must have one partition, for its order, but has more."""
    return (
        f"Topic '{topic}' has {partitions} partitions, but the order of all its records matters "
        "and it must have exactly one. Partitions cannot be removed: name another topic in the "
        "worker's configuration or, if nothing in this one is needed, delete it and start again, "
        "which creates it again: kafka-topics.sh --bootstrap-server HOST:PORT --delete "
        f"--topic {topic}"
    )
