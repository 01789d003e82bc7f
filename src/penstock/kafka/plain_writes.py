"""Writes outside transactions, where it does not matter which worker wrote last."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException, Message

from penstock.kafka.clients import Connection, producer
from penstock.kafka.errors import DENIED, AccessDenied, BrokerUnavailable, describe

WRITE_SECONDS = 20.0


def send_one(
    connection: Connection,
    topic: str,
    key: str | bytes,
    value: bytes | None,
    *,
    seconds: float = WRITE_SECONDS,
) -> int:
    """Write one record and wait until it is stored; its offset.

    BrokerUnavailable if it is not stored in so many seconds, AccessDenied if it may not be.
    """
    failures: list[KafkaError] = []
    offsets: list[int] = []

    def reported(error: KafkaError | None, stored: Message) -> None:
        if error is not None:
            failures.append(error)
        else:
            offsets.append(stored.offset() or 0)

    writer = producer(connection, **{"message.timeout.ms": int(seconds * 1000)})
    try:
        writer.produce(topic, value, key, on_delivery=reported)
        unsent = writer.flush(seconds)
    except KafkaException as error:
        raise BrokerUnavailable(describe(error)) from error
    if failures and failures[0].code() in DENIED:
        raise AccessDenied(f"write to topic {topic}", failures[0])
    if unsent or failures:
        raise BrokerUnavailable(describe(failures[0]) if failures else "no answer in time")
    return offsets[0]
