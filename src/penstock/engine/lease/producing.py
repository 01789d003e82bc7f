"""Puts binary columns into the producer's queue, as columns if the client supports it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException

from penstock.engine.pipeline.pipeline import Encoded
from penstock.kafka.column_queue import ColumnQueue, takes_columns
from penstock.kafka.errors import RecordRefused, describe
from penstock.kafka.field_queue import FieldQueue
from penstock.kafka.transactions import Transactions

FEW, LITTLE = 8, 64 * 1024
"""So many records, of so many bytes in all, are produced faster one by one than as columns."""
TOO_LARGE = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE})


@dataclass(frozen=True)
class Sent:
    """What a call of ``produce`` put into the transaction."""

    records: int
    payload_bytes: int
    topics: frozenset[str]


def produce(producer: Transactions, encoded: Encoded) -> Sent:
    """Add every record of the batch to the open transaction, in order."""
    for known, partition in _last_partitions(encoded):
        producer.look_up(known, partition)
    producer.begin()
    topic = _single_topic(encoded.batch.column("topic")) if _few(encoded) else None
    if topic is not None and _plain(encoded):
        _produce_few(producer, topic, encoded)
    elif takes_columns(producer.raw):
        _push(producer, _queue(producer, encoded), encoded)
    else:
        _produce_rows(producer, encoded)
    size = encoded.value.nbytes + encoded.key.nbytes
    return Sent(len(encoded.value), size, topics_in(encoded))


def topics_in(encoded: Encoded) -> frozenset[str]:
    """The topics of the batch's records."""
    column = encoded.batch.column("topic")
    topic = _single_topic(column) if len(column) else None
    return frozenset(pc.unique(column).to_pylist() if topic is None else [topic])


def _last_partitions(encoded: Encoded) -> Iterator[tuple[str, int]]:
    """The highest partition that records name, of each topic of which they name one."""
    partitions = encoded.batch.column("partition")
    if partitions.null_count == len(partitions):
        return
    topics = encoded.batch.column("topic").cast(pa.string())
    named = pa.table({"topic": topics, "partition": partitions}).group_by("topic")
    for row in named.aggregate([("partition", "max")]).to_pylist():
        if row["partition_max"] is not None:
            yield row["topic"], row["partition_max"]


def _single_topic(topics: pa.Array) -> str | None:
    if isinstance(topics, pa.DictionaryArray) and len(topics.dictionary) == 1:
        return str(topics.dictionary[0].as_py())
    return None


def _plain(encoded: Encoded) -> bool:
    """Whether the records have only keys and values."""
    columns = [encoded.batch.column(c) for c in ("partition", "timestamp", "headers")]
    return all(column.null_count == len(column) for column in columns)


def _few(encoded: Encoded) -> bool:
    return len(encoded.value) <= FEW and encoded.value.nbytes + encoded.key.nbytes <= LITTLE


def _produce_few(producer: Transactions, topic: str, encoded: Encoded) -> None:
    values, keys = encoded.value.to_pylist(), encoded.key.to_pylist()
    try:
        for value, key in zip(values, keys, strict=True):
            producer.send(topic, value, key)
    except RecordRefused as error:
        if isinstance(error.__cause__, KafkaException):
            raise _refusal(producer, topic, error.__cause__, encoded) from error
        raise
    producer.serve()


def _queue(producer: Transactions, encoded: Encoded) -> ColumnQueue | FieldQueue:
    topic = _single_topic(encoded.batch.column("topic"))
    if topic is not None and _plain(encoded):
        return ColumnQueue(producer.raw, topic, encoded.key, encoded.value)
    return FieldQueue(producer.raw, encoded.batch, encoded.key, encoded.value)


def _push(producer: Transactions, queue: ColumnQueue | FieldQueue, encoded: Encoded) -> None:
    try:
        while not queue.push():
            producer.make_room()
    except KafkaException as error:
        raise _refusal(producer, queue.topic, error, encoded) from error
    producer.serve()


def _produce_rows(producer: Transactions, encoded: Encoded) -> None:
    for topic, value, key, more in _rows(encoded):
        producer.send(topic, value, key, **more)
    producer.serve()


def _rows(encoded: Encoded) -> Iterator[tuple[str, bytes | None, bytes | None, dict[str, Any]]]:
    batch = encoded.batch
    rows = zip(
        batch.column("topic").to_pylist(),
        encoded.value.to_pylist(),
        encoded.key.to_pylist(),
        batch.column("partition").to_pylist(),
        batch.column("timestamp").to_pylist(),
        _header_lists(batch.column("headers")),
        strict=True,
    )
    for topic, value, key, partition, timestamp, headers in rows:
        more: dict[str, Any] = {}
        if partition is not None:
            more["partition"] = partition
        if timestamp is not None:
            more["timestamp"] = timestamp
        if headers:
            more["headers"] = headers
        yield topic, value, key, more


def _header_lists(column: pa.ListArray) -> Iterator[list[tuple[str, bytes | None]]]:
    """Those of each record. ``to_pylist`` would make a dictionary of each, and take four times."""
    keys, values = column.flatten().flatten()
    pairs = zip(keys.to_pylist(), values.to_pylist(), strict=True)
    for length in pc.list_value_length(column).to_pylist():
        yield list(islice(pairs, length)) if length else []


def _refusal(
    producer: Transactions, topic: str, error: KafkaException, encoded: Encoded
) -> Exception:
    if error.args[0].code() not in TOO_LARGE:
        return producer.fault(error, topic)
    producer.abort()
    size = pc.max(pc.binary_length(encoded.value)).as_py()
    return RecordRefused(
        f"topic {topic} does not accept a record of {size} bytes ({describe(error)}). Raise "
        "max.message.bytes of the topic and message.max.bytes of the broker, or make it smaller."
    )
