"""Creates missing topics that a source connector writes to.

If its config has ``topic.creation.*`` groups, a lease creates a topic before its first record, with
the settings of the first group that the topic's name matches. Without groups it is left to the
broker, which may create topics by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaException

from penstock.columnar.java_regex import compiled
from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection
from penstock.kafka.errors import describe
from penstock.sdk.errors import FatalError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TopicGroup:
    """How to create the topics whose names match; -1 takes the broker's default."""

    name: str
    partitions: int
    replication: int
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    config: Mapping[str, str] = field(default_factory=dict)

    def matches(self, topic: str) -> bool:
        """Whether the whole name matches a pattern of ``include`` and none of ``exclude``."""
        return _any_matches(self.include, topic) and not _any_matches(self.exclude, topic)


def _any_matches(patterns: Iterable[str], topic: str) -> bool:
    return any(compiled(pattern).fullmatch(topic) for pattern in patterns)


class NewTopics:
    """Creates missing topics, once each. Belongs to one lease."""

    def __init__(
        self,
        groups: Sequence[TopicGroup],
        connection: Connection,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._groups = groups
        self._connection = connection
        self._settings = settings or {}
        self._known: set[str] = set()

    def ensure(self, wanted: Iterable[str]) -> None:
        """Return once all these topics exist; FatalError if one cannot be created."""
        unknown = [topic for topic in wanted if topic not in self._known]
        if not unknown or not self._groups:
            return
        admin = clients.admin(self._connection, **self._settings)
        existing = topics.partitions_of(admin, unknown)
        for topic in unknown:
            if not existing[topic]:
                self._create(admin, topic)
        self._known.update(unknown)

    def _create(self, admin: clients.GroupAdmin, topic: str) -> None:
        # The last group is the default one, which matches everything.
        group = next(group for group in self._groups if group.matches(topic))
        log.info("creating topic %s with the settings of group %s", topic, group.name)
        try:
            topics.ensure_topic(
                admin,
                topic,
                partitions=group.partitions,
                replication=group.replication,
                config=group.config,
            )
        except KafkaException as error:
            raise FatalError(
                f"Task failed to create new topic {topic} with the settings of group {group.name}: "
                f"{describe(error)}. Ensure that the task is authorized to create topics or that "
                "the topic exists and restart the task."
            ) from error
