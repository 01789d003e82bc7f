"""Fetches the records of some partitions as Arrow batches, without an object for each."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import accumulate

import pyarrow as pa

from penstock.consumers.reading.fetching import READER_SETTINGS, Trouble, trouble_of
from penstock.consumers.reading.progress import Offsets, further
from penstock.consumers.reading.reading import Plan, Stops
from penstock.kafka.column_consumer import Signal
from penstock.kafka.column_source import ColumnSource, Taken, column_source

MOST = 50_000
"""Records that are fetched at once."""


@dataclass
class ColumnBatch:
    """Records that were fetched together, each of the ``runs`` of one partition."""

    runs: list[pa.RecordBatch] = field(default_factory=list)
    ends: Mapping[int, int] = field(default_factory=dict)
    """Where partitions end behind these records: markers of transactions have offsets too."""
    given: int = 0
    together: int = 0
    halted: bool = False
    """Not used here: the reader calls for the next run."""

    @property
    def size(self) -> int:
        """How many records there are."""
        return sum(run.num_rows for run in self.runs)

    @property
    def used_up(self) -> bool:
        """Whether all have been handed out."""
        return self.given >= self.size

    def take(self, limit: int | None = None) -> list[pa.RecordBatch]:
        """Hand out those that are left at once, or the next ``limit`` of them."""
        begin, size = self.given, self.size
        end = size if limit is None else min(size, begin + limit)
        self.together = end - begin  # first: meanwhile too few may count as done, never too many
        self.given = end
        return self._between(begin, end)

    def take_run(self) -> pa.RecordBatch:
        """Hand out what is left of the run that comes next; there must be one."""
        bounds = accumulate(run.num_rows for run in self.runs)
        return self.take(next(end for end in bounds if end > self.given) - self.given)[0]

    def _between(self, begin: int, end: int) -> list[pa.RecordBatch]:
        found, at = [], 0
        for run in self.runs:
            first, last = max(begin - at, 0), min(end - at, run.num_rows)
            if first < last:
                found.append(run.slice(first, last - first))
            at += run.num_rows
        return found

    def offsets(self, count: int) -> Offsets:
        """Where to go on after the first ``count`` of them."""
        reached = {partition_of(run): next_offset(run) for run in self._between(0, count)}
        return further(reached, self.ends) if count >= self.size else reached

    def reached(self, partition: int) -> int:
        """Where to go on in a partition after those that were given; 0 if they are of others."""
        return self.offsets(self.given).get(partition, 0)


def partition_of(run: pa.RecordBatch) -> int:
    """The partition whose records these are."""
    return int(run.column("partition")[0].as_py())


def next_offset(run: pa.RecordBatch) -> int:
    """The offset after the last of these."""
    return int(run.column("offset")[-1].as_py()) + 1


class ColumnReading:
    """As ``Reading``, but in columns. Belongs to one thread at a time.

    The next batch is made while the one before is in use.
    """

    def __init__(self, plan: Plan, *, headers: bool = False, timestamps: bool = True) -> None:
        self._plan = plan
        self._stops = Stops(plan.starts, plan.stops)
        self._reached: Offsets = dict(plan.starts)
        self._wanted = {"headers": headers, "timestamps": timestamps}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="columns")
        self._ahead: Future[Taken] | None = None
        self._source = self._open()

    def _open(self) -> ColumnSource:
        plan = self._plan
        return column_source(
            plan.connection,
            {(plan.topic, partition): offset for partition, offset in self._reached.items()},
            committed=plan.committed,
            settings={**READER_SETTINGS, **plan.settings},
            **self._wanted,
        )

    @property
    def finished(self) -> bool:
        """Whether every partition has been read to its stop."""
        return self._stops.reached

    def take(self, patience: float) -> ColumnBatch:
        """What is there; waits up to ``patience`` seconds for a first record."""
        # Kept until it has been dealt with: an error may come between.
        self._ahead = self._ahead or self._take_ahead(patience)
        runs, signals = self._ahead.result()
        ends, gone = self._heed(signals)
        batch = ColumnBatch(runs, ends)
        self._reached = further(self._reached, batch.offsets(batch.size))
        if gone:
            self._restart_at({partition: self._plan.when_gone(partition) for partition in gone})
        else:
            self._ahead = self._take_ahead(patience)
        return self._stopped(batch)

    def _take_ahead(self, patience: float) -> Future[Taken]:
        return self._thread.submit(self._source.take, MOST, patience)

    def _heed(self, signals: list[Signal]) -> tuple[Offsets, list[int]]:
        """Where partitions end, and the partitions whose next record was deleted."""
        ends: Offsets = {}
        gone: list[int] = []
        for signal in signals:
            match trouble_of(signal.error, self._plan.topic, self._plan.connection.reading_as):
                case Trouble.END:
                    ends[signal.partition] = signal.offset
                case Trouble.GONE:
                    gone.append(signal.partition)
        return ends, gone

    def extend(self, starts: Offsets) -> None:
        """Read these partitions, too. What was taken ahead is taken again."""
        if self._ahead is not None:
            self._ahead.result()
        self._restart_at(starts)

    def fetch_anew(self, offsets: Offsets) -> None:
        """Begin again at ``offsets``, which is where it has come to."""
        self.extend(offsets)

    def _restart_at(self, offsets: Offsets) -> None:
        """In these partitions; in the others where what was handed out ends."""
        self._ahead = None
        self._reached |= offsets
        self._source.close()
        self._source = self._open()

    def _stopped(self, batch: ColumnBatch) -> ColumnBatch:
        """Without what lies behind the stops."""
        if not self._stops.passed_by(batch.offsets(batch.size)):
            return batch
        runs = [run for each in batch.runs if (run := self._before_stop(each)).num_rows]
        return ColumnBatch(runs, self._stops.cut(batch.ends))

    def _before_stop(self, run: pa.RecordBatch) -> pa.RecordBatch:
        stop = self._stops.of(partition_of(run))
        offsets = run.column("offset").to_numpy()
        return run.slice(0, int(offsets.searchsorted(stop)))

    def close(self) -> None:
        """Leave nothing behind; what was taken ahead counts as not read."""
        self._thread.shutdown()
        self._source.close()
