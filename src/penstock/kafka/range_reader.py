"""Reads an exact range of one topic-partition as Arrow batches: the same records, however often."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError

from penstock.kafka.client_errors import LOGIN_REFUSED, gets_over, login_refused
from penstock.kafka.clients import Connection
from penstock.kafka.column_consumer import Signal
from penstock.kafka.column_source import column_source
from penstock.kafka.errors import (
    DENIED,
    PASSING,
    BrokerUnavailable,
    KafkaFault,
    describe,
    reading_denied,
)
from penstock.kafka.topics import PartitionId

MOST = 20_000
"""Records of a batch: larger ones gain nothing, and wait in memory."""
PATIENCE = 0.5
SILENCE_SECONDS = 60.0
"""How long nothing may come from the brokers before the range counts as unreadable."""
SETTINGS: dict[str, Any] = {
    "auto.offset.reset": "error",
    "fetch.message.max.bytes": 8 * 1024 * 1024,
    "queued.max.messages.kbytes": 32 * 1024,
    "fetch.queue.backoff.ms": 5,
}
OUT_OF_LOG = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})


@dataclass(frozen=True, order=True)
class Range:
    """The offsets ``start`` to ``stop``, which is not part of it, of one topic-partition.

    There may be fewer records in it than offsets: markers of transactions, aborted records and what
    compaction has removed have offsets, too.
    """

    topic: str
    partition: int
    start: int
    stop: int

    @property
    def count(self) -> int:
        """How many offsets it has."""
        return max(0, self.stop - self.start)

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} from {self.start} to {self.stop}"


class RangeGone(KafkaFault):
    """The log no longer holds the beginning of the range."""


def read_range(
    connection: Connection, wanted: Range, *, headers: bool = True
) -> Iterator[pa.RecordBatch]:
    """``read_ranges`` of one."""
    return read_ranges(connection, [wanted], headers=headers)


def read_ranges(
    connection: Connection, wanted: Iterable[Range], *, headers: bool = True
) -> Iterator[pa.RecordBatch]:
    """The committed records of ranges of different partitions, by one client.

    Batches are in the layout of ``penstock.sdk.batches``, each of one partition, and in order
    within it; ``key`` and ``value`` are bytes. RangeGone if some were deleted before they were
    read; AccessDenied, or BrokerUnavailable if nothing comes for a minute. The client is closed
    when the iterator is.
    """
    group = connection.reading_as
    left = {(r.topic, r.partition): _Progress(r, group) for r in wanted if r.count}
    if not left:
        return
    starts = {at: progress.range.start for at, progress in left.items()}
    source = column_source(connection, starts, headers=headers, timestamps=True, settings=SETTINGS)
    try:
        while left:
            batches, signals = source.take(MOST, PATIENCE)
            for batch in batches:
                if (part := _taken(batch, left)) is not None:
                    yield part
            for signal in signals:
                _heed(signal, left)
            left = {at: progress for at, progress in left.items() if not progress.done}
            for progress in left.values():
                progress.raise_if_silent()
    finally:
        source.close()


def _taken(batch: pa.RecordBatch, left: dict[PartitionId, _Progress]) -> pa.RecordBatch | None:
    """What of a batch is in its range; None once that has been read."""
    progress = left.get((batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py()))
    if progress is None or progress.done:
        return None
    progress.move(int(batch.column("offset")[-1].as_py()) + 1)
    return _before(batch, progress.range.stop)


def _heed(signal: Signal, left: dict[PartitionId, _Progress]) -> None:
    """A signal without a topic concerns every partition."""
    if not signal.topic:
        for progress in left.values():
            progress.heed(signal)
    elif (signal.topic, signal.partition) in left:
        left[signal.topic, signal.partition].heed(signal)


class _Progress:
    """How far a range has been read."""

    def __init__(self, wanted: Range, group: str) -> None:
        self.range = wanted
        self._group = group
        self._reached = wanted.start
        self._moved = time.monotonic()

    @property
    def done(self) -> bool:
        return self._reached >= self.range.stop

    def move(self, offset: int) -> None:
        if offset > self._reached:
            self._reached, self._moved = offset, time.monotonic()

    def heed(self, signal: Signal) -> None:
        """An end moves it, too: what is left may be markers and aborted records only."""
        code = signal.error.code()
        if code == KafkaError._PARTITION_EOF:
            self.move(signal.offset)
        elif code in LOGIN_REFUSED:
            raise login_refused(signal.error)
        elif code in DENIED:
            raise reading_denied(self.range.topic, self._group, signal.error)
        elif code in OUT_OF_LOG:
            raise RangeGone(
                f"{self.range} can no longer be read: the log does not hold offset "
                f"{self._reached} any more. Begin at a later offset."
            )
        elif not gets_over(signal.error) and code not in PASSING:
            raise BrokerUnavailable(f"{self.range} cannot be read: {describe(signal.error)}")

    def raise_if_silent(self) -> None:
        if not self.done and time.monotonic() - self._moved > SILENCE_SECONDS:
            raise BrokerUnavailable(
                f"{self.range}: nothing came from the brokers for {SILENCE_SECONDS:.0f} s, at "
                f"offset {self._reached}"
            )


def _before(batch: pa.RecordBatch, stop: int) -> pa.RecordBatch:
    offsets = batch.column("offset").to_numpy()
    return batch.slice(0, int(offsets.searchsorted(stop)))
