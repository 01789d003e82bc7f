"""A topic's records as Arrow batches, taken from the client one by one: with their headers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, Message, TopicPartition

from penstock.kafka import clients
from penstock.kafka.client_errors import gets_over
from penstock.kafka.clients import Connection
from penstock.kafka.column_consumer import Signal
from penstock.kafka.topics import PartitionId
from penstock.sdk.batches import HEADERS, record_batch

BINARY = pa.binary()


class RecordConsumer:
    """Reads forward from ``starts``. Not thread-safe."""

    def __init__(
        self,
        connection: Connection,
        starts: Mapping[PartitionId, int],
        *,
        headers: bool,
        timestamps: bool,
        **settings: Any,
    ) -> None:
        """``settings`` are those of ``clients.reader``."""
        self._headers = headers
        self._timestamps = timestamps
        self._errors: deque[Signal] = deque(maxlen=100)
        self._consumer = clients.reader(connection, error_cb=self._note_error, **settings)
        self._consumer.assign([TopicPartition(t, p, o) for (t, p), o in starts.items()])

    def take(self, most: int, patience: float) -> tuple[list[pa.RecordBatch], list[Signal]]:
        """At most ``most`` records, and signals; waits up to ``patience`` seconds for the first."""
        messages = self._consumer.consume(1, patience)
        if messages and most > 1:
            messages += self._consumer.consume(most - 1, 0)
        runs: dict[PartitionId, list[Message]] = {}
        signals: list[Signal] = []
        for message in messages:
            if (error := message.error()) is None:
                runs.setdefault(_position(message), []).append(message)
            else:
                signals.append(Signal(error, *_position(message), message.offset() or 0))
        while self._errors:
            signals.append(self._errors.popleft())
        return [self._batch(position, run) for position, run in runs.items()], signals

    def _note_error(self, error: KafkaError) -> None:
        if not gets_over(error):
            self._errors.append(Signal(error))

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()

    def _batch(self, position: PartitionId, records: Sequence[Message]) -> pa.RecordBatch:
        topic, partition = position
        rows = len(records)
        times = (record.timestamp()[1] for record in records) if self._timestamps else None
        return record_batch(
            topic,
            pa.array([record.value() for record in records], BINARY),
            key=pa.array([record.key() for record in records], BINARY),
            partition=pa.repeat(pa.scalar(partition, pa.int32()), rows),
            timestamp=pa.array(times, pa.int64(), size=rows) if times else None,
            headers=pa.array(map(_headers, records), HEADERS, size=rows) if self._headers else None,
            offset=pa.array([record.offset() for record in records], pa.int64()),
        )


def _position(message: Message) -> PartitionId:
    return message.topic() or "", message.partition() or 0


def _headers(record: Message) -> list[dict[str, Any]] | None:
    found: Any = record.headers()
    return [{"key": key, "value": value} for key, value in found] if found else None
