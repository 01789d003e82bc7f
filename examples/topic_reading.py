"""A topic as any consumer sees it that reads committed records only."""

from __future__ import annotations

import time
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition


def read_topic(brokers: str, topic: str, count: int, seconds: float = 60) -> list[Message]:
    """Everything in a topic of one partition, once there are ``count`` records or more."""
    consumer = Consumer(
        {
            "bootstrap.servers": brokers,
            "group.id": "examples",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        return _read(consumer, count, time.monotonic() + seconds)
    finally:
        consumer.close()


def _read(consumer: Consumer, count: int, deadline: float) -> list[Message]:
    found: list[Message] = []
    for message in _messages(consumer, deadline):
        if message is not None:
            found.append(message)
        elif len(found) >= count:
            return found
    raise AssertionError(f"{len(found)} records came, not {count}")


def _messages(consumer: Consumer, deadline: float) -> Iterator[Message | None]:
    """Records, and None whenever all there are have been seen."""
    while time.monotonic() < deadline:
        message = consumer.poll(0.2)
        error = None if message is None else message.error()
        if message is not None and error is None:
            yield message
        elif error is not None and error.code() == KafkaError._PARTITION_EOF:
            yield None
        # Other errors pass: the topic may not be there yet.


def values(messages: list[Message]) -> list[str]:
    """The values as text."""
    return [(message.value() or b"").decode() for message in messages]
