"""One task of a sink, from its start to its end, as a worker leads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.sdk.batches import record_batch
from penstock.sdk.errors import RecordError
from penstock.sdk.packing import column
from penstock.sdk.tasks import Assignments, Flushed, SinkTask

if TYPE_CHECKING:
    from penstock.sdk.testing.played_sink import PlayedSink

MOST_FLUSHES = 3


class SinkLease:
    """A task and its partitions."""

    def __init__(
        self, worker: PlayedSink, config: Mapping[str, str], assignments: Assignments
    ) -> None:
        self._worker, self._config, self._assignments = worker, config, assignments
        self._topic = assignments[0].topic
        self._read = {each.partition: each.offset for each in assignments}
        """How far each partition was read."""
        self._given: dict[int, int] = {}
        """The offset after the last record of each that the task has taken."""
        self._stopped = False
        self._task: SinkTask = worker.sink.connector.task_class()

    def open(self) -> None:
        """Start the task, and give it its partitions.

        Before its very first record, the state of its target is committed: otherwise the end of
        this lease would leave nothing to go back to.
        """
        self._task.start(self._config)
        self._task.open(self._assignments)
        if not any(each.metadata for each in self._assignments):
            self._commit(1)

    def stop(self) -> None:
        """Once, however it ended."""
        if not self._stopped:
            self._stopped = True
            self._task.stop()

    def run(self, most: int | None, rounds: int, flushes: int, killed_at: str) -> None:
        """As ``PlayedSink.lease`` says."""
        for _ in range(rounds):
            try:
                self._put_all(most)
            except RecordError:
                # To skip the record, a user sets an offset after it: nothing before it may be lost.
                self._task.may_hold = False
                self._commit(MOST_FLUSHES)
                raise
            if killed_at:
                return self._end_at(killed_at)
            self._commit(flushes)
        return None

    def _end_at(self, moment: str) -> None:
        if moment == "flush":
            self._task.flush()
        self.stop()

    def _commit(self, flushes: int) -> None:
        for _ in range(flushes):
            answer = self._task.flush()
            flushed = answer if isinstance(answer, Flushed) else Flushed(answer)
            for partition in self._read:
                self._worker.committed[partition] = self._safe(flushed, partition)

    def _safe(self, flushed: Flushed, partition: int) -> tuple[int, str]:
        before, text = self._worker.position(partition)
        where, end = (self._topic, partition), self._read[partition]
        if isinstance(flushed.metadata, str):
            text = flushed.metadata
        else:
            text = flushed.metadata.get(where, text)
        given = self._given.get(partition, 0)
        if flushed.offsets is None or given <= before:
            return end, text
        safe = flushed.offsets.get(where, before)
        # Behind the last record that the task was given there may be some that it has refused.
        return (end if safe >= given else max(safe, before)), text

    def _put_all(self, most: int | None) -> None:
        for partition, start in self._read.items():
            self._put(partition, start + len(self._worker.log[partition][start:][:most]))

    def _put(self, partition: int, end: int) -> None:
        """Put records up to ``end``, but those that are refused: those before them first."""
        refusals: list[tuple[int, RecordError]] = []
        while (start := self._read[partition]) < end:
            stop = refusals[-1][0] if refusals else end
            if start == stop:
                self._pass_over(partition, *refusals.pop())
                continue
            try:
                self._task.put(self._batch(partition, start, stop))
                self._read[partition] = self._given[partition] = stop
            except RecordError as error:
                refusals.append((_row_in(start, stop, error), error))

    def _pass_over(self, partition: int, offset: int, error: RecordError) -> None:
        self._worker.refused.append((partition, offset))
        if not self._worker.tolerant:
            raise error
        self._read[partition] = offset + 1

    def _batch(self, partition: int, start: int, end: int) -> pa.RecordBatch:
        numbers = self._worker.log[partition][start:end]
        values = [self._worker.value(number) for number in numbers]
        array, field = column("value", self._worker.sink.value_schema, values)
        return record_batch(
            self._topic,
            array,
            value_field=field,
            partition=pa.array([partition] * len(numbers), pa.int32()),
            timestamp=pa.array([1_700_000_000_000] * len(numbers), pa.int64()),
            offset=pa.array(range(start, end), pa.int64()),
        )


def _row_in(start: int, stop: int, error: RecordError) -> int:
    """The offset of the record that an error is about."""
    assert 0 <= error.row < stop - start, f"row {error.row} is not in the batch"
    return start + error.row
