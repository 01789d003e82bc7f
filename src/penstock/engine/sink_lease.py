"""A sink lease, as it runs inside a Python worker of Spark.

Arrow batches come in from Spark's Kafka source; they are cut by topic-partition, decoded,
transformed and put in order; at the end the task flushes, and the planned ends, the dead letters
and the copy of the positions are committed in one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa

from penstock.engine import producers
from penstock.engine.dead_letters import DeadLetters
from penstock.engine.heartbeats import Heartbeat, beating
from penstock.engine.lease import End, Report, SinkLease
from penstock.engine.raw_batches import by_partition
from penstock.engine.traces import ending_of, trace_of
from penstock.kafka.errors import LeaseLost
from penstock.kafka.sink_copies import copy_key, copy_value
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.sdk.errors import RecordError, RetriableError
from penstock.sdk.tasks import SinkTask

Position = tuple[str, int]
T = TypeVar("T")


def run(lease: SinkLease, batches: Iterator[pa.RecordBatch]) -> Report:
    """Run the lease to its end. Never raises: whatever happens is in the report."""
    with beating(lease.heartbeat, lease.lease_id, lease.limits) as heartbeat:
        loop = _Loop(lease, heartbeat)
        try:
            end, trace = loop.run(batches), ""
        except Exception as error:  # noqa: BLE001 (a task's error is data, whatever it is)
            end, trace = ending_of(error), trace_of(error, lease.secrets)
            heartbeat.progress.ended_early = True
        return loop.report(end, trace)


class _Loop:
    """The state of one running lease."""

    def __init__(self, lease: SinkLease, heartbeat: Heartbeat) -> None:
        self._lease = lease
        self._heartbeat = heartbeat
        self._dead = DeadLetters(lease)
        self._reached: dict[Position, int] = {}
        self._early = False
        self._producer: Transactions | None = None
        self._committed: dict[Position, tuple[int, str]] = {}

    def report(self, end: End, trace: str) -> Report:
        """What the worker is told."""
        progress = self._heartbeat.progress
        return Report(
            task=self._lease.task,
            lease_id=self._lease.lease_id,
            end=end,
            sink_positions=self._committed,
            records=progress.records,
            payload_bytes=progress.payload_bytes,
            dead_letters=len(self._dead),
            topics=frozenset(topic for topic, _ in self._lease.ranges),
            trace=trace,
        )

    def run(self, batches: Iterator[pa.RecordBatch]) -> End:
        """Write everything, then commit."""
        task = self._lease.task_class()
        try:
            self._retrying(lambda: task.start(self._lease.config))
            task.open(self._lease.assignments)
            self._mark_beginning(task)
            self._write(task, batches)
            self._raise_if_orphaned()
            metadata = self._retrying(task.flush)
        finally:
            task.stop()
        self._commit(self._ends(), metadata)
        if self._producer is not None:
            producers.keep(self._lease, self._producer)
        return End.DONE

    def _mark_beginning(self, task: SinkTask) -> None:
        """Before a task's very first record: commit where its target stands now.

        Else a crash in the first lease would leave nothing to go back to.
        """
        assignments = self._lease.assignments
        if any(each.metadata for each in assignments):
            return
        metadata = self._retrying(task.flush)
        if metadata:
            self._commit({(a.topic, a.partition): a.offset for a in assignments}, metadata)

    def _write(self, task: SinkTask, batches: Iterator[pa.RecordBatch]) -> None:
        for batch in batches:
            # Told to finish, the rest is read and dropped: Spark's writer wants to be heard out.
            self._early = self._early or self._heartbeat.over
            if not self._early:
                for raw in by_partition(batch):
                    self._put_partition(task, raw)

    def _put_partition(self, task: SinkTask, raw: pa.RecordBatch) -> None:
        position = (raw.column("topic")[0].as_py(), raw.column("partition")[0].as_py())
        after = raw.column("offset")[-1].as_py() + 1
        size = raw.column("value").nbytes
        for batch in self._decoded(raw):
            self._put(task, raw, batch)
        self._reached[position] = after
        progress = self._heartbeat.progress
        progress.records += raw.num_rows
        progress.payload_bytes += size
        progress.step()

    def _decoded(self, raw: pa.RecordBatch) -> list[pa.RecordBatch]:
        """Decoded and transformed, without the records for which that does not work."""
        while True:
            try:
                return list(self._lease.pipeline.decode(raw))
            except RecordError as error:
                self._dead.take(raw, error.row, error)
                raw = _without(raw, error.row)

    def _put(self, task: SinkTask, raw: pa.RecordBatch, batch: pa.RecordBatch) -> None:
        """Put a batch, without the records that the task refuses."""
        while batch.num_rows:
            try:
                self._put_once(task, batch)
                return
            except RecordError as error:
                offset = batch.column("offset")[error.row]
                self._dead.take(raw, raw.column("offset").index(offset).as_py(), error)
                batch = _without(batch, error.row)

    def _put_once(self, task: SinkTask, batch: pa.RecordBatch) -> None:
        self._retrying(lambda: task.put(batch))
        self._heartbeat.progress.step()

    def _retrying(self, call: Callable[[], T]) -> T:
        """Repeat a call that says it may be repeated, until told to finish."""
        while True:
            try:
                return call()
            except RetriableError as error:
                self._heartbeat.progress.step()
                if self._heartbeat.over:
                    raise LeaseLost(f"told to finish while retrying: {error}") from error
                time.sleep(error.retry_after)

    def _raise_if_orphaned(self) -> None:
        if self._heartbeat.orphaned.is_set():
            raise LeaseLost("the worker no longer answers heartbeats")

    def _ends(self) -> dict[Position, int]:
        """The planned ends; after an early stop, only as far as was written.

        The planned end, not the last record plus one: a range of markers or of aborted records
        has no last record, and would be planned again for ever.
        """
        if not self._early:
            return {position: end for position, (_, end) in self._lease.ranges.items()}
        return dict(self._reached)

    def _commit(self, ends: dict[Position, int], metadata: str) -> None:
        if not ends:
            return
        lease = self._lease
        producer = self._producer or producers.acquire(lease)
        self._producer = None
        try:
            for topic, value, key, headers in self._dead.records():
                producer.send(topic, value, key, headers=headers)
            offsets = [(t, p, end, metadata) for (t, p), end in ends.items()]
            producer.commit(
                self._copies(ends, metadata),
                [
                    GroupOffsets(lease.group_metadata, offsets),
                    GroupOffsets(lease.membership.metadata, [(lease.membership.topic, 0, 0, "")]),
                ],
            )
        except BaseException:
            producer.abort()
            raise
        self._producer = producer
        self._committed |= {position: (end, metadata) for position, end in ends.items()}

    def _copies(
        self, ends: dict[Position, int], metadata: str
    ) -> Iterable[tuple[str, bytes, bytes]]:
        for (topic, partition), end in ends.items():
            key = copy_key(self._lease.connector, topic, partition)
            yield self._lease.copy_topic, key, copy_value(end, metadata)


def _without(batch: pa.RecordBatch, row: int) -> pa.RecordBatch:
    kept = [i for i in range(batch.num_rows) if i != row]
    return batch.take(pa.array(kept, pa.int64()))
