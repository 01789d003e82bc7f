"""A sink lease, as it runs inside a Python worker of Spark.

read → decode → transform → put, and a commit whenever a transaction is old or big enough, or the
topics have no more records: the task flushes, and then its offsets, the dead letters and the copy
of the offsets are committed in one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, TypeVar

import pyarrow as pa

from penstock.engine.lease.batch_size import LONG, MOST_RECORDS, BatchSize
from penstock.engine.lease.buffers import consumer_settings
from penstock.engine.lease.dead_letters import DeadLetters
from penstock.engine.lease.decoding import decoded
from penstock.engine.lease.given_records import GivenRecords
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import SinkLease
from penstock.engine.lease.lease_loop import LeaseLoop
from penstock.engine.lease.lost_leases import Interrupted
from penstock.engine.lease.new_topics import NewTopics, TopicGroup
from penstock.engine.lease.offset_copies import send_copies
from penstock.engine.lease.retrying import Waits, insisted, retried
from penstock.engine.lease.safe_offsets import as_flushed, safe_positions, text_of
from penstock.engine.lease.topic_reader import Reader, TopicReader, position_of
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.refusals import refusals
from penstock.engine.pipeline.stage_error import StageError
from penstock.kafka.errors import GenerationChanged, KafkaFault, TransactionAborted
from penstock.kafka.groups import Committed
from penstock.kafka.topics import PartitionId
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.sdk.errors import RecordError
from penstock.sdk.tasks import Assignments, Flushed, SinkTask

MAX_ABORTS = 5
MOST_FLUSHES = 3
"""How often a task that should hold nothing back is asked to flush."""

T = TypeVar("T")


class DecodingError(Exception):
    """Records could not be converted or transformed, because of ``cause``; none of them was put."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


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
        self._size = BatchSize(int(limit))
        self._committed: dict[PartitionId, Committed] = {}
        self._given = GivenRecords()
        self._held = False
        """Whether the task has left records for a later flush."""
        self._waits = Waits(self._progress, lease.secrets)

    def _outcome(self) -> dict[str, Any]:
        return {
            "sink_positions": self._committed,
            "dead_letters": len(self._dead),
            "uncommitted": self._given.uncommitted(),
        }

    def _move_records(self, producer: Transactions) -> None:
        lease, task = self._lease, self._lease.task_class()
        self._producer = producer
        self._keep_starts()
        # The reader first: it fetches ahead while the task starts.
        with closing(self._open_reader()) as reader:
            try:
                self._retrying(lambda: task.start(lease.config))
                task.open(Assignments(lease.assignments, lease.committed, lease.epoch))
                self._mark_beginning(task)
                self._heartbeat.prepared()
                self._read_until_over(task, reader)
                self._heartbeat.closes()
            finally:
                task.stop()

    def _open_reader(self) -> Reader:
        lease = self._lease
        starts = {(a.topic, a.partition): a.offset for a in lease.assignments}
        wanted = _wanted(lease, self._heartbeat.leases())
        return TopicReader(lease.connection, starts, **wanted)

    def _keep_starts(self) -> None:
        """Commit a start that could be a different one next time, before anything can fail."""
        unsaid = self._lease.uncommitted_starts
        starts = {p: start for p, start in self._starts().items() if p in unsaid}
        if starts:
            self._commit(starts, time.monotonic())

    def _starts(self) -> dict[PartitionId, Committed]:
        return {(a.topic, a.partition): (a.offset, a.metadata) for a in self._lease.assignments}

    def _read_until_over(self, task: SinkTask, reader: Reader) -> None:
        pause = self._pauses.after(dry=False)
        while not self._over():
            batches = self._read(task, reader, pause)
            pause = self._pauses.after(dry=not batches)
            self._put_all(task, reader, batches)
            self._progress.note(dry=not batches and not self._held)
            # Without records, the reader may still have moved, past markers and aborted records.
            if not batches or self._commit_due(dry=False):
                self._commit_reached(task, reader, here=not batches)
        self._raise_if_orphaned()
        self._commit_reached(task, reader)
        self._commits.settle()

    def _read(self, task: SinkTask, reader: Reader, patience: float) -> list[pa.RecordBatch]:
        try:
            return reader.read(self._size.most, patience)
        except KafkaFault:
            self._commit_at_last(task, reader)
            raise

    def _commit_at_last(self, task: SinkTask, reader: Reader) -> None:
        """A deleted topic ends the lease, but what was put from others must not be put again."""
        if not self._heartbeat.orphaned.is_set():
            # The reader's error is reported, whatever happens here.
            with suppress(Exception):
                self._commit_reached(task, reader)
                self._commits.settle()

    def _mark_beginning(self, task: SinkTask) -> None:
        """Before a task's very first record: commit the present state of its target.

        Otherwise a crash in the first lease would leave nothing to go back to.
        """
        starts = self._starts()
        if any(metadata for _, metadata in starts.values()):
            return
        began = time.monotonic()
        flushed = as_flushed(self._retrying(task.flush))
        marked = {p: (start, text_of(flushed, p, "")) for p, (start, _) in starts.items()}
        if any(metadata for _, metadata in marked.values()):
            self._commit(marked, began)
            self._commits.settle()

    def _put_all(self, task: SinkTask, reader: Reader, batches: Sequence[pa.RecordBatch]) -> None:
        """Put each batch; before the task fails because of a record, commit everything before it.

        Otherwise the target would hold records that are not committed, and a user who skips the
        bad record by altering the offset would skip those as well.
        """
        for number, raw in enumerate(batches):
            try:
                bad = self._put_partition(task, raw)
            except DecodingError as error:
                self._commit_before(task, reader, batches[number:])
                raise error.cause from None
            if bad is not None:
                self._commit_before(task, reader, [raw.slice(bad.row), *batches[number + 1 :]])
                self._set_aside(raw, bad.row, bad)

    def _put_partition(self, task: SinkTask, raw: pa.RecordBatch) -> StageError | None:
        """Put records of one partition; returns the first error that is not tolerated.

        In that case all records before it were put, and none after it.
        """
        began = time.monotonic()
        self._begin()
        self._count(raw.num_rows, raw.column("value").nbytes)
        self._progress.taken += raw.num_rows
        self._progress.topics.note([raw.column("topic")[0].as_py()])
        batches, bad = self._decoded(raw)
        for batch in batches:
            refused = self._put(task, raw, batch)
            if refused is not None:
                bad = refused
                break
        if bad is not None:
            left = raw.slice(bad.row)
            self._count(-left.num_rows, -left.column("value").nbytes)
        self._learn(raw.num_rows, time.monotonic() - began)
        return bad

    def _learn(self, rows: int, seconds: float) -> None:
        crowded = self._queued_bytes() > 2 * self._pace.most_bytes
        self._size.learn(rows, seconds, crowded=crowded)

    def _queued_bytes(self) -> int:
        return self._dead.waiting_bytes

    def _decoded(self, raw: pa.RecordBatch) -> tuple[list[pa.RecordBatch], StageError | None]:
        """Decoded and transformed, without the records that cause errors.

        If none may be left out: up to the first of them, with its error.
        """

        def set_aside(row: int, error: StageError) -> None:
            self._set_aside(raw, row, error)

        tolerant = self._lease.tolerance.all_errors
        return decoded(raw, self._decoded_now, set_aside if tolerant else None)

    def _decoded_now(self, raw: pa.RecordBatch) -> list[pa.RecordBatch]:
        """DecodingError for any error that is not the fault of a record: nothing was put."""
        tolerance = self._lease.tolerance
        try:
            return retried(
                lambda: self._decode(raw), tolerance, self._heartbeat, self._waits, self._until
            )
        except (StageError, KafkaFault):
            raise
        except Exception as error:
            raise DecodingError(error) from error

    def _decode(self, raw: pa.RecordBatch) -> list[pa.RecordBatch]:
        return list(self._pipeline.decode(raw))

    def _put(self, task: SinkTask, raw: pa.RecordBatch, batch: pa.RecordBatch) -> StageError | None:
        """Put a batch, without the records that the task rejects.

        If none may be left out: up to the first of them, with the error of that row of ``raw``.
        """

        def attempt(start: int, end: int) -> None:
            part = batch.slice(start, end - start)
            self._put_once(task, part)
            self._given.note(position_of(raw), part.column("offset"))

        began, task.read_from = time.monotonic(), position_of(raw)
        for row, error in refusals(batch.num_rows, attempt, RecordError):
            if self._heartbeat.over and time.monotonic() - began > LONG:
                raise Interrupted(f"told to finish among many bad records, such as: {error}")
            at = _row_at(raw, batch.column("offset")[row])
            bad = StageError(error, "TASK_PUT", type(task), at)
            if not self._lease.tolerance.all_errors:
                return bad
            self._set_aside(raw, at, bad)
        return None

    def _set_aside(self, raw: pa.RecordBatch, row: int, error: StageError) -> None:
        """Skip a bad record, or fail if errors are not tolerated."""
        self._progress.bad_records += 1
        self._dead.take(raw, row, error, held=self._held)
        self._progress.skipped += 1
        self._progress.dead_letters += bool(self._lease.tolerance.dead_letter_topic)

    def _put_once(self, task: SinkTask, batch: pa.RecordBatch) -> None:
        began = time.monotonic()
        try:
            self._retrying(lambda: task.put(batch))
        finally:
            self._progress.step()
        self._progress.given += batch.num_rows
        self._progress.count_batch(batch.num_rows, time.monotonic() - began)

    def _retrying(self, call: Callable[[], T]) -> T:
        return insisted(call, self._heartbeat, self._progress, self._waits, self._until)

    def _commit_before(
        self, task: SinkTask, reader: Reader, left: Sequence[pa.RecordBatch]
    ) -> None:
        """Commit the reader's offsets up to the first of the records that are ``left``."""
        self._raise_if_orphaned()
        task.may_hold = False
        for _ in range(MOST_FLUSHES):
            self._commit_ends(task, reader.reached_before(left))
            self._commits.settle()
            if not self._held:
                break

    def _commit_reached(self, task: SinkTask, reader: Reader, *, here: bool = False) -> None:
        """Commit the reader's offsets: everything it has read has been put."""
        self._commit_ends(task, reader.reached, here=here)

    def _commit_ends(
        self, task: SinkTask, reached: Mapping[PartitionId, int], *, here: bool = False
    ) -> None:
        self._commits.settle()
        self._held = False
        ends = {
            position: end
            for position, end in reached.items()
            if self._committed.get(position, (None, ""))[0] != end
        }
        if ends:
            began = time.monotonic()
            safe = self._safe(as_flushed(self._retrying(task.flush)), ends)
            if safe or self._dead.waiting_bytes:
                self._commit(safe, began, here=here)
            else:
                self._began = None

    def _safe(
        self, flushed: Flushed, ends: Mapping[PartitionId, int]
    ) -> dict[PartitionId, Committed]:
        """What to commit of ``ends`` now."""
        before = self._starts() | self._committed
        safe = safe_positions(flushed, ends, before, self._given.ranges)
        self._held = any(safe[position][0] < end for position, end in ends.items())
        return {p: moved for p, moved in safe.items() if moved != before.get(p)}

    def _commit(
        self, ends: dict[PartitionId, Committed], began: float, *, here: bool = False
    ) -> None:
        lease, size, letters = self._lease, self._dead.waiting_bytes, self._dead.take_letters()
        offsets = [(*position, *committed) for position, committed in ends.items()]
        groups = [GroupOffsets(lease.group_metadata, offsets)] if offsets else []

        def commit() -> None:
            self._dead_letter_topic.ensure({letter[0] for letter in letters})
            for topic, value, key, headers, timestamp in letters:
                self._producer.send(topic, value, key, headers=headers, timestamp=timestamp)
            send_copies(self._producer, lease, ends)
            self._deliver(self._producer, size, [], groups)

        def committed() -> None:
            self._committed |= ends
            self._given.committed(ends)

        repeated = self._repeated(self._paced(size, None, commit))
        self._begin_commit(began, repeated, committed, here=here)

    def _repeated(self, commit: Callable[[], None]) -> Callable[[], None]:
        """``commit``, repeated if it was rolled back: everything in it is still there."""

        def repeated() -> None:
            for _ in range(MAX_ABORTS - 1):
                try:
                    return commit()
                except GenerationChanged as error:
                    self._progress.aborts += 1
                    self._renew(error)
                except TransactionAborted as error:
                    self._progress.aborts += 1
                    if not error.passing:
                        raise
            return commit()

        return repeated


def _row_at(raw: pa.RecordBatch, offset: pa.Scalar) -> int:
    return int(raw.column("offset").index(offset).as_py())


def _wanted(lease: SinkLease, leases: int = 1) -> dict[str, Any]:
    """How to read, and whether headers and timestamps, which are costly, are needed."""
    task, pipeline = lease.task_class, lease.pipeline
    assert isinstance(pipeline, Pipeline)  # noqa: S101 (its settings are resolved)
    # A dead letter is the record as it was.
    kept = bool(lease.tolerance.dead_letter_topic)
    return {
        "headers": task.wants_headers or pipeline.predicated or kept,
        "timestamps": task.wants_timestamps or bool(pipeline.transforms) or kept,
        "settings": {**consumer_settings(leases), **lease.consumer_settings},
    }
