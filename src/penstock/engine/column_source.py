"""Where the records of topics come from as Arrow batches: in columns, or one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from penstock.engine.record_consumer import RecordConsumer
from penstock.kafka import clients, librdkafka
from penstock.kafka.clients import Connection
from penstock.kafka.column_consumer import ColumnConsumer, Run, Signal
from penstock.kafka.topics import Position
from penstock.sdk.batches import record_batch

Taken = tuple[list[pa.RecordBatch], list[Signal]]


class ColumnSource(Protocol):
    """Reads partitions forward. Belongs to one thread at a time."""

    def take(self, most: int, patience: float) -> Taken:
        """At most ``most`` records, and signals; waits up to ``patience`` seconds for a first.

        Each batch holds records of one topic-partition, ``key`` and ``value`` as bytes, in the
        layout of ``penstock.sdk.batches``, with offsets.
        """

    def close(self) -> None:
        """Leave nothing behind."""


def column_source(
    connection: Connection,
    starts: Mapping[Position, int],
    *,
    headers: bool,
    timestamps: bool,
    committed: bool = True,
    settings: Mapping[str, Any],
) -> ColumnSource:
    """The fastest that gives what is wanted."""
    if headers or not librdkafka.available():
        consumer = clients.reader(connection, committed=committed, **settings)
        return RecordConsumer(consumer, starts, headers=headers, timestamps=timestamps)
    all_settings = clients.reader_settings(connection, committed=committed, **settings)
    return _ColumnBatches(ColumnConsumer(all_settings, starts, timestamps=timestamps))


class _ColumnBatches:
    """What a column consumer gives, in the layout of batches."""

    def __init__(self, consumer: ColumnConsumer) -> None:
        self._consumer = consumer

    def take(self, most: int, patience: float) -> Taken:
        runs, signals = self._consumer.take(most, patience)
        return [_batch(run) for run in runs], signals

    def close(self) -> None:
        self._consumer.close()


def _batch(run: Run) -> pa.RecordBatch:
    return record_batch(
        run.topic,
        run.values,
        key=run.keys,
        partition=pa.repeat(pa.scalar(run.partition, pa.int32()), len(run.values)),
        timestamp=run.timestamps,
        offset=pa.array(run.offsets),
    )
