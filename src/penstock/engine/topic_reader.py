"""What a sink lease reads: committed records of its topic-partitions, as Arrow batches.

One reader per lease. It goes forward from the offsets it was given and knows at any time how far
it has come, over markers and aborted records too: a range that holds nothing else has no last
record, and would be read again for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import KafkaError, Message, TopicPartition

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import PASSING, LeaseLost, describe
from penstock.sdk.batches import HEADERS, record_batch

Position = tuple[str, int]
BINARY = pa.binary()

SETTINGS: dict[str, Any] = {
    "fetch.message.max.bytes": 8 * 1024 * 1024,
    "queued.max.messages.kbytes": 32 * 1024,
    # How long the client rests once that many are waiting; its default is a whole second.
    "fetch.queue.backoff.ms": 5,
}
FIXED: dict[str, Any] = {
    # Deleted before it was read: told to the worker, never skipped. Where to begin it has said.
    "auto.offset.reset": "error",
}


class TopicReader:
    """Reads forward from ``starts``. Belongs to one thread; raises LeaseLost."""

    def __init__(
        self,
        connection: Connection,
        starts: Mapping[Position, int],
        *,
        headers: bool = True,
        timestamps: bool = True,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.reached: dict[Position, int] = {}
        """The next offset of every partition that has moved since the start."""
        self._starts = dict(starts)
        self._headers = headers
        self._timestamps = timestamps
        self._consumer = clients.reader(connection, **{**SETTINGS, **(settings or {}), **FIXED})
        self._consumer.assign([TopicPartition(t, p, o) for (t, p), o in starts.items()])

    def read(self, most: int, patience: float) -> list[pa.RecordBatch]:
        """What there is, at most ``most`` records; waits up to ``patience`` seconds for a first.

        Each batch holds records of one topic-partition, ``key`` and ``value`` as bytes, in the
        layout of ``penstock.sdk.batches``.
        """
        messages = self._consumer.consume(1, patience)
        if messages and most > 1:
            messages += self._consumer.consume(most - 1, 0)
        return list(self._batches(messages))

    def close(self) -> None:
        """Read no more."""
        self._consumer.close()

    def _batches(self, messages: Sequence[Message]) -> Iterator[pa.RecordBatch]:
        records = [message for message in messages if message.error() is None]
        for position, run in self._by_partition(records).items():
            self._move(position, (run[-1].offset() or 0) + 1)
            yield self._batch(position, run)
        if len(records) < len(messages):
            self._heed(message for message in messages if message.error() is not None)

    def _batch(self, position: Position, records: Sequence[Message]) -> pa.RecordBatch:
        topic, partition = position
        rows = len(records)
        times = (record.timestamp()[1] for record in records) if self._timestamps else None
        return record_batch(
            topic,
            pa.array([record.value() for record in records], BINARY),
            key=_keys(records),
            partition=pa.repeat(pa.scalar(partition, pa.int32()), rows),
            timestamp=pa.array(times, pa.int64(), size=rows) if times else None,
            headers=pa.array(map(_headers, records), HEADERS, size=rows) if self._headers else None,
            offset=_offsets(records),
        )

    def _by_partition(self, records: list[Message]) -> dict[Position, list[Message]]:
        if len(self._starts) == 1:
            return dict.fromkeys(self._starts, records) if records else {}
        runs: dict[Position, list[Message]] = {}
        for record in records:
            runs.setdefault(_position(record), []).append(record)
        return runs

    def _heed(self, signals: Iterator[Message]) -> None:
        for signal in signals:
            error = signal.error()
            if error is None or error.code() in PASSING:
                continue
            if error.code() != KafkaError._PARTITION_EOF:
                raise LeaseLost(describe(error))
            self._move(_position(signal), signal.offset() or 0)

    def _move(self, position: Position, offset: int) -> None:
        if offset > self.reached.get(position, self._starts[position]):
            self.reached[position] = offset


def _position(message: Message) -> Position:
    return str(message.topic()), int(message.partition() or 0)


def _keys(records: Sequence[Message]) -> pa.Array:
    keys = [record.key() for record in records]
    return pa.nulls(len(keys), BINARY) if keys.count(None) == len(keys) else pa.array(keys, BINARY)


def _offsets(records: Sequence[Message]) -> pa.Array:
    """Without a look at each, where none is missing between the first and the last."""
    first, last = records[0].offset() or 0, records[-1].offset() or 0
    if last - first + 1 == len(records):
        return pa.array(np.arange(first, last + 1))
    return pa.array([record.offset() for record in records], pa.int64())


def _headers(record: Message) -> list[dict[str, Any]] | None:
    found: Any = record.headers()
    return [{"key": key, "value": value} for key, value in found] if found else None
