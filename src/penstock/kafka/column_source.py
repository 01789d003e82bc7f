"""Reads the records of topics as Arrow batches: in columns, or one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from penstock.kafka import clients, librdkafka
from penstock.kafka.clients import Connection
from penstock.kafka.column_consumer import ColumnConsumer, Run, Signal
from penstock.kafka.record_consumer import RecordConsumer
from penstock.kafka.topics import PartitionId
from penstock.sdk.batches import record_batch

Taken = tuple[list[pa.RecordBatch], list[Signal]]


class ColumnSource(Protocol):
    """Reads partitions forward. Used by one thread at a time."""

    def take(self, most: int, patience: float) -> Taken:
        """At most ``most`` records, and signals; waits up to ``patience`` seconds for the first.

        Each batch holds records of one topic-partition, ``key`` and ``value`` as bytes, in the
        layout of ``penstock.sdk.batches``, with offsets. Signals without a topic are errors that
        the client does not recover from by itself (``kafka.client_errors``).
        """

    def close(self) -> None:
        """Close the client."""


def column_source(
    connection: Connection,
    starts: Mapping[PartitionId, int],
    *,
    headers: bool,
    timestamps: bool,
    committed: bool = True,
    settings: Mapping[str, Any],
) -> ColumnSource:
    """The fastest source that provides the requested columns."""
    if headers or not librdkafka.available():
        wanted: dict[str, Any] = {"headers": headers, "timestamps": timestamps}
        return RecordConsumer(connection, starts, **wanted, committed=committed, **settings)
    all_settings = clients.reader_settings(connection, committed=committed, **settings)
    return _ColumnBatches(ColumnConsumer(all_settings, starts, timestamps=timestamps))


class _ColumnBatches:
    """The output of a column consumer, in the layout of batches."""

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
