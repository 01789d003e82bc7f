"""Records of a compacted topic, written and read as a stranger would."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaError, Message, Producer

from topics import Topics

Raw = tuple[bytes, bytes | None]
"""Key and value; a value of None is a tombstone. A compacted topic takes no record without key."""


def write_records(
    topics: Topics, topic: str, records: Iterable[Raw], partition: int = 0, timestamp: int = 0
) -> None:
    """Write records in this order, without a transaction; a timestamp of 0 is that of now."""
    refused: list[str] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            refused.append(error.str())

    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    for key, value in records:
        producer.produce(
            topic, value, key, partition=partition, timestamp=timestamp, on_delivery=delivered
        )
    assert producer.flush(20) == 0
    assert refused == []


def write_transaction(
    topics: Topics, topic: str, records: Iterable[Raw], *, abort: bool = False
) -> None:
    """Write records in one transaction, and commit or abort it."""
    producer = topics.transaction(f"stranger-{topic}")
    for key, value in records:
        producer.produce(topic, value, key, partition=0)
    assert producer.flush(20) == 0
    if abort:
        producer.abort_transaction(20)
    else:
        producer.commit_transaction(20)


def read_records(topics: Topics, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    """Everything that is committed, in order within each partition."""
    return [(message.key(), message.value()) for message in topics.messages(topic)]
