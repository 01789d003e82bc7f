"""Reads the committed records of a sink lease's topic-partitions, as Arrow batches.

One reader per lease. It reads forward from the given offsets and always knows its offsets, past
markers and aborted records too: a range that holds nothing else has no last record, and would be
read again forever.
"""

from __future__ import annotations

import contextvars
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import pyarrow as pa
from confluent_kafka import KafkaError

from penstock.engine.lease.buffers import consumer_settings
from penstock.kafka.client_errors import LOGIN_REFUSED, gets_over, login_refused
from penstock.kafka.clients import Connection
from penstock.kafka.column_consumer import Signal
from penstock.kafka.column_source import Taken, column_source
from penstock.kafka.errors import (
    DENIED,
    PASSING,
    AccessDenied,
    KafkaFault,
    LeaseLost,
    describe,
)
from penstock.kafka.topics import PartitionId

SETTINGS: dict[str, Any] = {
    **consumer_settings(leases=1),
    # How long the client pauses once that many are queued; its default is a whole second.
    "fetch.queue.backoff.ms": 5,
}
FIXED: dict[str, Any] = {
    # Deleted before it was read: reported to the worker, never skipped. It chooses where to begin.
    "auto.offset.reset": "error",
}
GONE = DENIED | {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
}
"""After these, the broker accepts no offsets of the topic either."""
MOST_REFUSALS = 5
"""Failed logins in a row: a broker that is shutting down may reject one or two."""


class Reader(Protocol):
    """What a sink lease reads from; see ``TopicReader``."""

    @property
    def reached(self) -> Mapping[PartitionId, int]:
        """The next offset of every partition that has moved."""

    def read(self, most: int, patience: float) -> list[pa.RecordBatch]:
        """The available records."""

    def reached_before(self, left: Sequence[pa.RecordBatch]) -> dict[PartitionId, int]:
        """As ``reached``, as if these had not been returned."""

    def close(self) -> None:
        """Stop reading."""


class TopicReader:
    """Reads forward from ``starts``. Not thread-safe; raises LeaseLost and AccessDenied."""

    def __init__(
        self,
        connection: Connection,
        starts: Mapping[PartitionId, int],
        *,
        headers: bool = True,
        timestamps: bool = True,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._reached: dict[PartitionId, int] = {}
        self._starts = dict(starts)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._ahead: Future[Taken] | None = None
        self._fault: KafkaFault | None = None
        self._refusals = 0
        self._consumer = column_source(
            connection,
            starts,
            headers=headers,
            timestamps=timestamps,
            settings={**SETTINGS, **(settings or {}), **FIXED},
        )

    def read(self, most: int, patience: float) -> list[pa.RecordBatch]:
        """The available records, at most ``most``; waits up to ``patience`` seconds for the first.

        Each batch holds records of one topic-partition, ``key`` and ``value`` as bytes, in the
        layout of ``penstock.sdk.batches``. An error that comes with records is raised by the next
        call: when this raises, everything up to ``reached`` has been returned before.
        """
        self._raise_fault()
        ahead = self._ahead or self._take_ahead(most, patience)
        batches, signals = ahead.result()
        self._ahead = self._take_ahead(most, patience)
        for batch in batches:
            self._move(position_of(batch), batch.column("offset")[-1].as_py() + 1)
        for signal in signals:
            self._heed(signal)
        if not batches:
            self._raise_fault()
        return batches

    def reached_before(self, left: Sequence[pa.RecordBatch]) -> dict[PartitionId, int]:
        """As ``reached``, as if the records of ``left`` had not been returned."""
        return before(left, self.reached, self._starts)

    @property
    def reached(self) -> Mapping[PartitionId, int]:
        """The next offset of every partition that has moved since the start and still exists."""
        return self._reached

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _take_ahead(self, most: int, patience: float) -> Future[Taken]:
        """Prepare the next columns while the lease works on the previous ones."""
        context = contextvars.copy_context()
        return self._thread.submit(context.run, self._consumer.take, most, patience)

    def close(self) -> None:
        """Stop reading; records fetched ahead count as not read."""
        self._thread.shutdown()
        self._consumer.close()

    def _heed(self, signal: Signal) -> None:
        code = signal.error.code()
        if code == KafkaError._PARTITION_EOF:
            self._move((signal.topic, signal.partition), signal.offset)
        elif code in LOGIN_REFUSED:
            self._count_refusal(signal)
        elif not signal.topic and gets_over(signal.error):
            return
        elif code in DENIED:
            which = f"topic {signal.topic}" if signal.topic else "its topics"
            self._fail(AccessDenied(f"read {which}", signal.error), signal)
        elif code not in PASSING:
            self._fail(LeaseLost(describe(signal.error)), signal)

    def _count_refusal(self, signal: Signal) -> None:
        self._refusals += 1
        if self._refusals >= MOST_REFUSALS:
            self._fail(login_refused(signal.error), signal)

    def _fail(self, fault: KafkaFault, signal: Signal) -> None:
        self._fault = self._fault or fault
        if signal.error.code() in GONE:
            self._reached = {p: end for p, end in self._reached.items() if p[0] != signal.topic}

    def _move(self, position: PartitionId, offset: int) -> None:
        self._refusals = 0
        if offset > self._reached.get(position, self._starts[position]):
            self._reached[position] = offset


def before(
    left: Sequence[pa.RecordBatch],
    reached: Mapping[PartitionId, int],
    starts: Mapping[PartitionId, int],
) -> dict[PartitionId, int]:
    """What was ``reached`` before the first of the records that are ``left``."""
    first = {position_of(batch): batch.column("offset")[0].as_py() for batch in reversed(left)}
    ends = {position: first.get(position, end) for position, end in reached.items()}
    return {position: end for position, end in ends.items() if end > starts[position]}


def position_of(batch: pa.RecordBatch) -> PartitionId:
    """The topic-partition of a batch's records."""
    return batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py()
