"""A sink lease, as it runs inside a Python worker of Spark.

read → decode → transform → put, and a commit whenever a transaction is old or big enough, or the
topics have run dry: the task flushes, and then how far it has come, the dead letters and the copy
of the positions are committed in one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from typing import Any, TypeVar

import pyarrow as pa

from penstock.engine.dead_letters import DeadLetters
from penstock.engine.heartbeats import Heartbeat
from penstock.engine.lease import SinkLease
from penstock.engine.lease_loop import LeaseLoop
from penstock.engine.new_topics import NewTopics, TopicGroup
from penstock.engine.pipeline import Pipeline, without
from penstock.engine.retrying import retried
from penstock.engine.stage_error import StageError
from penstock.engine.topic_reader import TopicReader
from penstock.kafka.errors import KafkaFault, LeaseLost
from penstock.kafka.sink_copies import SinkGroup, copy_key, copy_value
from penstock.kafka.topics import Position
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.sdk.errors import RecordError, RetriableError
from penstock.sdk.tasks import SinkTask

MOST_RECORDS = 20_000
FEWEST_RECORDS = 100
SHORT, LONG = 0.1, 0.5
"""Seconds within which a batch should be put: a lease hears *finish* only between batches."""

T = TypeVar("T")


class SinkLoop(LeaseLoop[SinkLease]):
    """The state of one running sink lease."""

    def __init__(self, lease: SinkLease, heartbeat: Heartbeat) -> None:
        super().__init__(lease, heartbeat)
        self._dead = DeadLetters(lease)
        self._dead_letter_topic = NewTopics(
            (TopicGroup("dead letters", 1, lease.tolerance.dead_letter_replication, (".*",)),),
            lease.connection,
            lease.admin_settings,
        )
        limit = lease.consumer_settings.get("max.poll.records", MOST_RECORDS)
        self._limit = max(1, min(int(limit), MOST_RECORDS))
        self._most = min(FEWEST_RECORDS, self._limit)
        self._committed: dict[Position, tuple[int, str]] = {}

    def _outcome(self) -> dict[str, Any]:
        return {"sink_positions": self._committed, "dead_letters": len(self._dead)}

    def _move_records(self, producer: Transactions) -> None:
        lease, task = self._lease, self._lease.task_class()
        self._producer = producer
        starts = {(a.topic, a.partition): a.offset for a in lease.assignments}
        self._keep_starts(starts)
        # First of all the reader, which fetches ahead while the task gets ready.
        with closing(TopicReader(lease.connection, starts, **_wanted(lease))) as reader:
            try:
                self._retrying(lambda: task.start(lease.config))
                task.open(lease.assignments)
                self._mark_beginning(task)
                self._read_until_over(task, reader)
            finally:
                task.stop()

    def _keep_starts(self, starts: dict[Position, int]) -> None:
        """Commit a start that would be another one the next time, before anything can fail."""
        moving = {p: at for p, at in starts.items() if p in self._lease.uncommitted_starts}
        if moving:
            self._commit(moving, "", time.monotonic())

    def _read_until_over(self, task: SinkTask, reader: TopicReader) -> None:
        while not self._over():
            batches = self._read(task, reader)
            for batch in batches:
                self._put_partition(task, batch)
            self._progress.note(dry=not batches)
            # Dry, the reader may still have moved, over markers and aborted records.
            if not batches or self._commit_due(dry=False):
                self._commit_reached(task, reader)
            if not batches:
                self._commits.settle()
        self._raise_if_orphaned()
        self._commit_reached(task, reader)
        self._commits.settle()

    def _read(self, task: SinkTask, reader: TopicReader) -> list[pa.RecordBatch]:
        try:
            return reader.read(self._most, self._lease.limits.poll_pause)
        except KafkaFault:
            self._commit_at_last(task, reader)
            raise

    def _commit_at_last(self, task: SinkTask, reader: TopicReader) -> None:
        """A topic that is gone ends the lease, but what was put of others need not be put again."""
        if not self._heartbeat.orphaned.is_set():
            # What went wrong with the reader is told, whatever becomes of this.
            with suppress(Exception):
                self._commit_reached(task, reader)
                self._commits.settle()

    def _mark_beginning(self, task: SinkTask) -> None:
        """Before a task's very first record: commit where its target stands now.

        Else a crash in the first lease would leave nothing to go back to.
        """
        assignments = self._lease.assignments
        if any(each.metadata for each in assignments):
            return
        began = time.monotonic()
        metadata = self._retrying(task.flush)
        if metadata:
            self._commit({(a.topic, a.partition): a.offset for a in assignments}, metadata, began)
            self._commits.settle()

    def _put_partition(self, task: SinkTask, raw: pa.RecordBatch) -> None:
        began = time.monotonic()
        self._begin()
        self._count(raw.num_rows, raw.column("value").nbytes)
        self._progress.taken += raw.num_rows
        for batch in self._decoded(raw):
            self._put(task, raw, batch)
        self._topics.add(raw.column("topic")[0].as_py())
        self._learn(raw.num_rows, time.monotonic() - began)

    def _learn(self, rows: int, seconds: float) -> None:
        """Batches as large as the task puts in a fraction of a second."""
        if seconds > LONG:
            self._most = max(1, self._most // 2)
        elif seconds < SHORT and rows * 2 > self._most:
            self._most = min(self._limit, self._most * 2)

    def _decoded(self, raw: pa.RecordBatch) -> list[pa.RecordBatch]:
        """Decoded and transformed, without the records for which that does not work."""
        while True:
            try:
                return self._decoded_now(raw)
            except StageError as error:
                self._set_aside(raw, error.row, error)
                raw = without(raw, error.row)

    def _decoded_now(self, raw: pa.RecordBatch) -> list[pa.RecordBatch]:
        pipeline, tolerance = self._pipeline, self._lease.tolerance
        return retried(lambda: list(pipeline.decode(raw)), tolerance, self._heartbeat)

    def _put(self, task: SinkTask, raw: pa.RecordBatch, batch: pa.RecordBatch) -> None:
        """Put a batch, without the records that the task refuses."""
        while batch.num_rows:
            try:
                self._put_once(task, batch)
                return
            except RecordError as error:
                offset = batch.column("offset")[error.row]
                failed = StageError.of(error, "TASK_PUT", type(task))
                self._set_aside(raw, raw.column("offset").index(offset).as_py(), failed)
                batch = without(batch, error.row)

    def _set_aside(self, raw: pa.RecordBatch, row: int, error: StageError) -> None:
        """Skip a bad record, or fail where none is tolerated."""
        self._progress.bad_records += 1
        self._dead.take(raw, row, error)
        self._progress.skipped += 1
        self._progress.dead_letters += bool(self._lease.tolerance.dead_letter_topic)

    def _put_once(self, task: SinkTask, batch: pa.RecordBatch) -> None:
        began = time.monotonic()
        self._retrying(lambda: task.put(batch))
        self._progress.step()
        self._progress.given += batch.num_rows
        self._progress.count_batch(batch.num_rows, time.monotonic() - began)

    def _retrying(self, call: Callable[[], T]) -> T:
        """Repeat a call that says it may be repeated, until told to finish."""
        while True:
            try:
                return call()
            except RetriableError as error:
                self._progress.step()
                self._progress.retries += 1
                if self._heartbeat.over:
                    raise LeaseLost(f"told to finish while retrying: {error}") from error
                time.sleep(error.retry_after)

    def _commit_reached(self, task: SinkTask, reader: TopicReader) -> None:
        """Commit how far the reader has come, all of which has been put."""
        self._commits.settle()
        ends = {
            position: end
            for position, end in reader.reached.items()
            if self._committed.get(position, (None, ""))[0] != end
        }
        if ends:
            began = time.monotonic()
            self._commit(ends, self._retrying(task.flush), began)

    def _commit(self, ends: dict[Position, int], metadata: str, began: float) -> None:
        lease, letters = self._lease, self._dead.take_letters()
        offsets = [(t, p, end, metadata) for (t, p), end in ends.items()]
        groups = [GroupOffsets(lease.group_metadata, offsets), lease.membership.offsets()]

        def commit() -> None:
            self._dead_letter_topic.ensure({letter[0] for letter in letters})
            for topic, value, key, headers, timestamp in letters:
                self._producer.send(topic, value, key, headers=headers, timestamp=timestamp)
            self._producer.commit(self._copies(ends, metadata), groups)

        def committed() -> None:
            self._committed |= {position: (end, metadata) for position, end in ends.items()}

        self._begin_commit(began, commit, committed)

    def _copies(
        self, ends: dict[Position, int], metadata: str
    ) -> Iterable[tuple[str, bytes, bytes]]:
        sink = SinkGroup(self._lease.connector, self._lease.group)
        for (topic, partition), end in ends.items():
            key = copy_key(sink, topic, partition)
            value = copy_value(end, metadata, self._lease.topic_ids.get(topic))
            yield self._lease.copy_topic, key, value


def _wanted(lease: SinkLease) -> dict[str, Any]:
    """How to read, and whether anybody looks at what costs as much as the rest of a record."""
    task, pipeline = lease.task_class, lease.pipeline
    assert isinstance(pipeline, Pipeline)  # noqa: S101 (its settings are resolved)
    # A dead letter is the record as it was.
    kept = bool(lease.tolerance.dead_letter_topic)
    return {
        "headers": task.wants_headers or pipeline.predicated or kept,
        "timestamps": task.wants_timestamps or bool(pipeline.transforms) or kept,
        "settings": lease.consumer_settings,
    }
