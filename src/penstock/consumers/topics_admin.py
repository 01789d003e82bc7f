"""Topics as users see them: made, described, listed and deleted together with their consumers."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
    TopicDescription,
)

from penstock.consumers.directory import Directory, Trouble
from penstock.consumers.errors import ConsumerError, InternalTopic, NoSuchTopic, TopicExists
from penstock.consumers.registry.entries import RegistryKey
from penstock.consumers.registry.registry import TOPIC as REGISTRY
from penstock.consumers.topic import find_topic, no_topic, refuse_illegal
from penstock.kafka import clients, names, topics
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied, BrokerUnavailable, KafkaFault, is_denied
from penstock.runtime.config.storage_config import STORAGE_KEYS

log = logging.getLogger(__name__)

VISIBLE_SECONDS = 10.0
_OF_STORES = [key.default for key in STORAGE_KEYS if key.name.endswith(".storage.topic")]
_OF_CONNECT = {"connect-configs", "connect-offsets", "connect-status"}
INTERNAL = frozenset(
    {
        REGISTRY,
        names.worker_topic("penstock"),
        names.sink_copies_topic("penstock"),
        *map(str, _OF_STORES),
        *_OF_CONNECT,
    }
)
"""The registry of consumers, and what workers, ours and Kafka Connect's, call their topics unless
they are told otherwise."""
_WRONG = frozenset(
    {
        KafkaError.INVALID_CONFIG,
        KafkaError.INVALID_PARTITIONS,
        KafkaError.INVALID_REPLICATION_FACTOR,
        KafkaError.INVALID_REQUEST,
        KafkaError.POLICY_VIOLATION,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError._INVALID_ARG,
        KafkaError.TOPIC_DELETION_DISABLED,
    }
)
"""What brokers answer to a wish that they will never fulfil."""


def is_internal(topic: str) -> bool:
    """Whether a topic is Kafka's or Penstock's own, and none of a user's."""
    return topic.startswith("__") or topic in INTERNAL


@dataclass(frozen=True)
class Described:
    """A topic at this moment."""

    name: str
    id: str
    partitions: int
    replication: int
    status: str
    """``provisioned`` if all of it is there, ``degraded`` if copies are missing, ``offline`` if a
    part of it can neither be read nor written."""
    reason: str
    """Why it is not all there."""


class TopicsAdmin:
    """Of one cluster. Thread-safe."""

    def __init__(self, connection: Connection, internal: Collection[str] = ()) -> None:
        """More topics that are ``internal`` may be known."""
        self._admin = clients.admin(connection)
        self._internal = frozenset(internal)
        self.directory = Directory(connection)

    def _is_internal(self, topic: str) -> bool:
        return is_internal(topic) or topic in self._internal

    def create(
        self,
        topic: str,
        *,
        partitions: int = 1,
        replication: int = -1,
        config: Mapping[str, str] | None = None,
        consumer_ttl_ms: int | None = None,
        if_not_exists: bool = False,
    ) -> bool:
        """Make a topic, and return when it can be seen; False if it was there and may have been.

        ``replication`` -1 leaves it to the brokers. TopicExists if it is there already.
        """
        try:
            made = topics.ensure_topic(
                self._admin, topic, partitions=partitions, replication=replication, config=config
            )
        except KafkaException as error:
            raise _refused("create", topic, error) from error
        except TimeoutError as error:
            raise _no_answer() from error
        if not made and not if_not_exists:
            raise TopicExists(f'topic "{topic}" already exists.')
        if made:
            self._wait_until_visible(topic)
            if consumer_ttl_ms is not None:
                self.directory.keep_consumers_of(topic, consumer_ttl_ms)
        return made

    def change(self, topic: str, config: Mapping[str, str]) -> None:
        """Change settings of a topic; an empty value gives a setting its default again."""
        find_topic(self._admin, topic)
        entries = [_entry(key, value) for key, value in config.items()]
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
        try:
            asked = self._admin.incremental_alter_configs([resource])
            asked[resource].result(topics.ADMIN_TIMEOUT)
        except KafkaException as error:
            raise _refused("change", topic, error) from error
        except TimeoutError as error:
            raise _no_answer() from error

    def describe(self, topic: str) -> Described:
        """One topic; NoSuchTopic if there is none of this name."""
        refuse_illegal(topic)
        return self._describe([topic])[0]

    def listed(self, *, internal: bool = False) -> list[Described]:
        """All topics, in the order of their names; without ``internal`` only those of users."""
        found = sorted(name for name in topics.all_topics(self._admin))
        shown = [name for name in found if internal or not self._is_internal(name)]
        return self._describe(shown, lost=True)

    def consumers(self, topic: str) -> list[RegistryKey]:
        """The consumers that are kept for a topic."""
        return self.directory.of_topic(topic)

    def refuse_to_delete(self, wanted: Iterable[str], *, internal: bool = False) -> None:
        """NoSuchTopic or InternalTopic if one of these cannot be deleted."""
        for topic in wanted:
            if self._is_internal(topic) and not internal:
                raise InternalTopic(
                    f'topic "{topic}" is internal; workers or consumers depend on it. To delete '
                    "it anyway, use --force."
                )
            find_topic(self._admin, topic)

    def delete(
        self, topic: str, *, internal: bool = False, trouble: Trouble = log.warning
    ) -> list[RegistryKey]:
        """Delete a topic and forget its consumers; which they were.

        Once the topic is gone nothing is an error: that they were not forgotten is ``trouble``.
        """
        self.refuse_to_delete([topic], internal=internal)
        try:
            self._admin.delete_topics([topic])[topic].result(topics.ADMIN_TIMEOUT)
        except KafkaException as error:
            raise _refused("delete", topic, error) from error
        except TimeoutError as error:
            raise _no_answer() from error
        try:
            return self.directory.forget_topic(topic)
        except KafkaFault as error:
            # They start afresh in any case, and the next sweep forgets them.
            trouble(f'topic "{topic}" is deleted; its consumers were not forgotten yet: {error}')
            return []

    def _describe(self, wanted: Sequence[str], *, lost: bool = False) -> list[Described]:
        """These topics; of those that are gone an error, unless they may be ``lost``."""
        if not wanted:
            return []
        asked = self._admin.describe_topics(
            TopicCollection(list(wanted)), request_timeout=topics.ADMIN_TIMEOUT
        )
        found = []
        for name, future in asked.items():
            try:
                found.append(_described(future.result(topics.ADMIN_TIMEOUT + 5)))
            except KafkaException as error:
                if not lost or error.args[0].code() not in topics.GONE:
                    raise no_topic(name, error) from error
        return sorted(found, key=lambda topic: topic.name)

    def _wait_until_visible(self, topic: str) -> None:
        """A broker may hear of it a moment after the one that made it."""
        deadline = time.monotonic() + VISIBLE_SECONDS
        while True:
            try:
                find_topic(self._admin, topic)
            except NoSuchTopic:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return


def _described(topic: TopicDescription) -> Described:
    # Where there is no leader the client says None, whatever its types say.
    leaders: dict[int, Any] = {p.id: p.leader for p in topic.partitions}
    leaderless = [p for p, leader in leaders.items() if leader is None or leader.id < 0]
    behind = [p.id for p in topic.partitions if len(p.isr) < len(p.replicas)]
    status, reason = "provisioned", ""
    if leaderless:
        status, reason = "offline", f"no leader of partition {_numbers(leaderless)}"
    elif behind:
        status, reason = "degraded", f"copies missing of partition {_numbers(behind)}"
    copies = max((len(p.replicas) for p in topic.partitions), default=0)
    return Described(topic.name, str(topic.topic_id), len(topic.partitions), copies, status, reason)


def _numbers(partitions: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(partitions)))


def _entry(key: str, value: str) -> ConfigEntry:
    operation = AlterConfigOpType.SET if value else AlterConfigOpType.DELETE
    return ConfigEntry(key, value, incremental_operation=operation)


def _refused(verb: str, topic: str, error: KafkaException) -> Exception:
    if is_denied(error):
        return AccessDenied(f"{verb} topic {topic}", error)
    code, text = error.args[0].code(), error.args[0].str()
    if code in topics.GONE:
        return no_topic(topic, error)
    if code in _WRONG:
        return ConsumerError(f'cannot {verb} topic "{topic}": {text}')
    return BrokerUnavailable(f'cannot {verb} topic "{topic}": {text}')


def _no_answer() -> BrokerUnavailable:
    return BrokerUnavailable(f"no broker answered within {topics.ADMIN_TIMEOUT:.0f} s")
