"""Copies topics as MirrorMaker 2's MirrorSourceConnector does, with the same offsets.

Its source partitions have three keys, whose order in the stored bytes decides whether Kafka
Connect finds an offset; an offset is that of the last record copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.sdk import (
    ConfigDef,
    ConfigKey,
    Importance,
    OffsetReader,
    Schema,
    SourceConnector,
    SourceRecord,
    SourceTask,
)

ALIAS, TOPICS, SERVERS = "source.cluster.alias", "topics", "source.cluster.bootstrap.servers"
KEYS = ConfigDef(
    ConfigKey(ALIAS, importance=Importance.HIGH, doc="Name of the source cluster."),
    ConfigKey(TOPICS, importance=Importance.HIGH, doc="Topics to copy, separated by commas."),
    ConfigKey(SERVERS, importance=Importance.HIGH, doc="Brokers of the source cluster."),
)
BYTES = Schema.bytes()
Headers = Sequence[tuple[str, bytes | None]]


class MirrorSourceTask(SourceTask):
    """Reads every partition of every topic."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.mirror.MirrorSourceTask"

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self._alias = config[ALIAS]
        servers = config[SERVERS]
        self._consumer = Consumer(
            {"bootstrap.servers": servers, "group.id": "mirror", "enable.auto.commit": False}
        )
        self._consumer.assign(
            [
                TopicPartition(topic, number, self._start_of(topic, number, offsets))
                for topic, numbers in partitions(servers, config[TOPICS]).items()
                for number in numbers
            ]
        )

    def _start_of(self, topic: str, number: int, offsets: OffsetReader) -> int:
        known = offsets.get(self._partition(topic, number))
        return known["offset"] + 1 if known else 0

    def _partition(self, topic: str, number: int) -> dict[str, Any]:
        # Not in the order of partition_keys: that order is the connector's to declare.
        return {"topic": topic, "partition": number, "cluster": self._alias}

    def poll(self) -> list[SourceRecord] | None:
        found = self._consumer.consume(500, timeout=0.1)
        return [self._record(message) for message in found if message.error() is None] or None

    def _record(self, message: Message) -> SourceRecord:
        topic, number = str(message.topic()), message.partition() or 0
        return SourceRecord(
            self._partition(topic, number),
            {"offset": message.offset() or 0},
            f"{self._alias}.{topic}",
            message.value(),
            value_schema=BYTES,
            kafka_partition=number,
            headers=cast(Headers, message.headers() or ()),
        )

    def stop(self) -> None:
        self._consumer.close()


class MirrorSourceConnector(SourceConnector):
    """One task for everything; only a task can tell whether there is anything new."""

    config_def = KEYS
    connect_class: ClassVar[str] = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
    task_class: ClassVar[type[SourceTask]] = MirrorSourceTask
    partition_keys: ClassVar[tuple[str, ...]] = ("cluster", "partition", "topic")
    version = "1.0"

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self._config)]


def partitions(servers: str, topics: str) -> dict[str, list[int]]:
    """The partitions of each of the topics that are there."""
    known = AdminClient({"bootstrap.servers": servers}).list_topics(timeout=20).topics
    return {t: list(known[t].partitions) for t in topics.split(",") if t in known}
