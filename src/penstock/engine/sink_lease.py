"""A sink lease, as it runs inside a Python worker of Spark.

read → decode → transform → put, and a commit whenever a transaction is old or big enough, or the
topics have run dry: the task flushes, and then how far it has come, the dead letters and the copy
of the positions are committed in one transaction.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TypeVar

import pyarrow as pa

from penstock.engine import producers
from penstock.engine.dead_letters import DeadLetters
from penstock.engine.heartbeats import Heartbeat, beating
from penstock.engine.lease import End, Report, SinkLease
from penstock.engine.lease_logs import logged
from penstock.engine.topic_reader import Position, TopicReader
from penstock.engine.traces import ending_of, trace_of
from penstock.kafka.errors import LeaseLost
from penstock.kafka.sink_copies import copy_key, copy_value
from penstock.kafka.transactions import GroupOffsets
from penstock.sdk.errors import RecordError, RetriableError
from penstock.sdk.tasks import SinkTask

log = logging.getLogger(__name__)

MOST_RECORDS = 2_000
FEWEST_RECORDS = 100
SHORT, LONG = 0.1, 0.5
"""Seconds within which a batch should be put: a lease hears *finish* only between batches."""

T = TypeVar("T")


def run(lease: SinkLease) -> Report:
    """Run the lease to its end. Never raises: whatever happens is in the report."""
    with (
        logged(lease) as lines,
        beating(lease.heartbeat, lease.lease_id, lease.limits, lines) as heartbeat,
    ):
        loop = _Loop(lease, heartbeat)
        try:
            end, trace = loop.run(), ""
        except Exception as error:  # noqa: BLE001 (a task's error is data, whatever it is)
            end, trace = ending_of(error), trace_of(error, lease.secrets)
            heartbeat.progress.ended_early = True
        return loop.report(end, trace)


class _Loop:
    """The state of one running lease."""

    def __init__(self, lease: SinkLease, heartbeat: Heartbeat) -> None:
        self._lease = lease
        self._heartbeat = heartbeat
        self._progress = heartbeat.progress
        self._dead = DeadLetters(lease)
        self._began: float | None = None
        self._records = 0
        self._bytes = 0
        self._most = FEWEST_RECORDS
        self._topics: set[str] = set()
        self._committed: dict[Position, tuple[int, str]] = {}
        self._until = time.monotonic() + lease.limits.lease_seconds

    def report(self, end: End, trace: str) -> Report:
        """What the worker is told."""
        return Report(
            task=self._lease.task,
            lease_id=self._lease.lease_id,
            end=end,
            sink_positions=self._committed,
            records=self._progress.records,
            payload_bytes=self._progress.payload_bytes,
            dead_letters=len(self._dead),
            topics=frozenset(self._topics),
            trace=trace,
        )

    def run(self) -> End:
        """Read, put and commit until told to finish; a clean end keeps the producer."""
        self._producer = producers.acquire(self._lease)
        try:
            self._run_task(self._lease.task_class())
        except BaseException:
            self._producer.abort()
            raise
        producers.keep(self._lease, self._producer)
        return End.DONE

    def _run_task(self, task: SinkTask) -> None:
        lease = self._lease
        starts = {(a.topic, a.partition): a.offset for a in lease.assignments}
        try:
            self._retrying(lambda: task.start(lease.config))
            task.open(lease.assignments)
            self._mark_beginning(task)
            with closing(TopicReader(lease.connection, starts, **_wanted(lease))) as reader:
                self._read_until_over(task, reader)
        finally:
            task.stop()

    def _read_until_over(self, task: SinkTask, reader: TopicReader) -> None:
        while not self._over():
            batches = reader.read(self._most, self._lease.limits.poll_pause)
            for batch in batches:
                self._put_partition(task, batch)
            self._progress.note(dry=not batches)
            if self._commit_due(dry=not batches):
                self._commit_reached(task, reader)
        if self._heartbeat.orphaned.is_set():
            raise LeaseLost("the worker no longer answers heartbeats")
        self._commit_reached(task, reader)

    def _over(self) -> bool:
        return self._heartbeat.over or time.monotonic() > self._until

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

    def _put_partition(self, task: SinkTask, raw: pa.RecordBatch) -> None:
        began = time.monotonic()
        self._began = self._began or began
        for batch in self._decoded(raw):
            self._put(task, raw, batch)
        self._records += raw.num_rows
        self._bytes += raw.column("value").nbytes
        self._topics.add(raw.column("topic")[0].as_py())
        self._learn(raw.num_rows, time.monotonic() - began)

    def _learn(self, rows: int, seconds: float) -> None:
        """Batches as large as the task puts in a fraction of a second."""
        if seconds > LONG:
            self._most = max(1, self._most // 2)
        elif seconds < SHORT and rows * 2 > self._most:
            self._most = min(MOST_RECORDS, self._most * 2)

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
        self._progress.step()

    def _retrying(self, call: Callable[[], T]) -> T:
        """Repeat a call that says it may be repeated, until told to finish."""
        while True:
            try:
                return call()
            except RetriableError as error:
                self._progress.step()
                if self._heartbeat.over:
                    raise LeaseLost(f"told to finish while retrying: {error}") from error
                time.sleep(error.retry_after)

    def _commit_due(self, *, dry: bool) -> bool:
        if dry:
            return True
        limits = self._lease.limits
        return self._began is not None and (
            time.monotonic() - self._began >= limits.transaction_seconds
            or self._records >= limits.transaction_records
            or self._bytes >= limits.transaction_bytes
        )

    def _commit_reached(self, task: SinkTask, reader: TopicReader) -> None:
        """Commit how far the reader has come, all of which has been put."""
        ends = {
            position: end
            for position, end in reader.reached.items()
            if self._committed.get(position, (None, ""))[0] != end
        }
        if ends:
            self._commit(ends, self._retrying(task.flush))
        self._progress.records += self._records
        self._progress.payload_bytes += self._bytes
        self._began = None
        self._records = self._bytes = 0

    def _commit(self, ends: dict[Position, int], metadata: str) -> None:
        lease, producer = self._lease, self._producer
        for topic, value, key, headers in self._dead.take_letters():
            producer.send(topic, value, key, headers=headers)
        offsets = [(t, p, end, metadata) for (t, p), end in ends.items()]
        producer.commit(
            self._copies(ends, metadata),
            [
                GroupOffsets(lease.group_metadata, offsets),
                GroupOffsets(lease.membership.metadata, [(lease.membership.topic, 0, 0, "")]),
            ],
        )
        log.debug("committed %s", offsets)
        self._progress.step()
        self._progress.transactions += 1
        self._committed |= {position: (end, metadata) for position, end in ends.items()}

    def _copies(
        self, ends: dict[Position, int], metadata: str
    ) -> Iterable[tuple[str, bytes, bytes]]:
        for (topic, partition), end in ends.items():
            key = copy_key(self._lease.connector, topic, partition)
            yield self._lease.copy_topic, key, copy_value(end, metadata)


def _wanted(lease: SinkLease) -> dict[str, bool]:
    """Whether anybody looks at them: they cost as much as the rest of a record, or more."""
    task = lease.task_class
    return {
        "headers": task.wants_headers or bool(lease.tolerance.dead_letter_topic),
        "timestamps": task.wants_timestamps or bool(lease.pipeline.transforms),
    }


def _without(batch: pa.RecordBatch, row: int) -> pa.RecordBatch:
    kept = [i for i in range(batch.num_rows) if i != row]
    return batch.take(pa.array(kept, pa.int64()))
