"""A source lease, as it runs inside a Python worker of Spark.

poll → transform → convert → produce, and a commit of records and offsets together whenever a
transaction is old or big enough, or the source has no more records.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from penstock.engine.lease.dead_letters import Letter
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import KeyedOffset, MovedOffset, SourceLease
from penstock.engine.lease.lease_loop import LeaseLoop
from penstock.engine.lease.new_topics import NewTopics, TopicGroup
from penstock.engine.lease.producing import produce, topics_in
from penstock.engine.lease.retrying import Waits, retried
from penstock.engine.lease.source_letters import Offsets, SourceLetters, offsets_of
from penstock.engine.pipeline.pipeline import Bad, Encoded
from penstock.engine.pipeline.stage_error import StageError
from penstock.kafka.errors import GenerationChanged, KafkaFault, TransactionAborted
from penstock.kafka.json_forms import dump
from penstock.kafka.offset_keys import in_order, offset_key
from penstock.kafka.transactions import Transactions
from penstock.sdk.batches import SourceBatch, offsets_only
from penstock.sdk.errors import RecordError, RetriableError, TakenOver
from penstock.sdk.offsets import OffsetReader, canonical
from penstock.sdk.packing import pack
from penstock.sdk.records import SourceRecord
from penstock.sdk.tasks import SourceTask

BATCHES = 4
"""How many batches make a transaction of the largest allowed size."""
NAP_SECONDS = 1.0
"""How long a lease sleeps at most, whatever its task says about news."""
MAX_ABORTS = 5
"""How many transactions in a row may be rolled back before the lease gives up."""


class SourceLoop(LeaseLoop[SourceLease]):
    """The state of one running source lease."""

    def __init__(self, lease: SourceLease, heartbeat: Heartbeat) -> None:
        super().__init__(lease, heartbeat)
        self._positions: dict[str, KeyedOffset] = {
            canonical(partition): (key, partition, offset)
            for key, partition, offset in lease.positions
        }
        self._new_topics = NewTopics(lease.topic_groups, lease.connection, lease.admin_settings)
        self._letters = SourceLetters(lease)
        self._waits = Waits(self._progress, lease.secrets)
        self._unsent: list[Letter] = []
        self._letter_topic = NewTopics(
            (TopicGroup("dead letters", 1, lease.tolerance.dead_letter_replication, (".*",)),),
            lease.connection,
            lease.admin_settings,
        )
        self._committed: dict[str, MovedOffset] = {}
        self._pending: dict[str, MovedOffset] = {}

    def _outcome(self) -> dict[str, Any]:
        return {"positions": tuple(self._committed.values())}

    def _move_records(self, producer: Transactions) -> None:
        """Run the task; after a transaction was rolled back, again from what is committed."""
        aborts, committed = 0, 0
        while True:
            task = self._lease.task_class()
            try:
                task.start(self._lease.config, self._reader())
                self._heartbeat.prepared()
                self._poll_until_over(task, producer)
                self._heartbeat.closes()
                return
            except (TransactionAborted, GenerationChanged) as error:
                self._roll_back()
                aborts = 1 if self._progress.transactions > committed else aborts + 1
                committed = self._progress.transactions
                if aborts == MAX_ABORTS:
                    raise
                if isinstance(error, GenerationChanged):
                    self._renew(error)
            finally:
                task.stop()

    def _roll_back(self) -> None:
        self._progress.aborts += 1
        self._pending = {}
        self._unsent = []
        self._letters.forget()
        self._begin_anew()

    def _reader(self) -> OffsetReader:
        return OffsetReader((p, o) for _, p, o in self._positions.values())

    def _poll_until_over(self, task: SourceTask, producer: Transactions) -> None:
        while not self._over():
            with self._committing_first(task, producer):
                batches = self._poll(task)
            for batch in batches:
                self._produce(task, producer, batch)
            if self._commit_due(dry=not batches):
                # With nothing to do meanwhile, another thread would only cost.
                self._commit(task, producer, here=not batches)
            pause = self._pauses.after(dry=not batches)
            if not batches:
                self._commits.settle()
                self._rest(task, pause)
        self._raise_if_orphaned()
        for polled in task.finish():
            for batch in self._counted(self._batches(task, polled), time.monotonic()):
                self._produce(task, producer, batch)
        self._commit(task, producer)
        self._commits.settle()

    def _rest(self, task: SourceTask, pause: float) -> None:
        if type(task).has_news is not SourceTask.has_news and not task.busy and not self._waiting():
            self._heartbeat.nap(task.has_news, NAP_SECONDS, task.wake_on_news)
        else:
            self._heartbeat.finish.wait(pause)

    @contextmanager
    def _committing_first(self, task: SourceTask, producer: Transactions) -> Iterator[None]:
        """An error of the task or of a record: the batches before it are complete, and committed.

        So a user who moves the source past a record that cannot be converted skips nothing else.
        """
        try:
            yield
        except (KafkaFault, TakenOver):
            raise
        except Exception:
            self._raise_if_orphaned()
            self._commit(task, producer)
            self._commits.settle()
            raise

    def _poll(self, task: SourceTask) -> list[SourceBatch]:
        began = time.monotonic()
        task.batch_bytes = self._room()
        try:
            batches = self._batches(task, task.poll())
            self._waits.over()
        except RecordError as error:
            batches = [self._unread(task, error)]
        except RetriableError as error:
            self._progress.retries += 1
            self._waits.note(error)
            left = max(0.0, self._until - time.monotonic())
            self._heartbeat.finish.wait(min(error.retry_after, left))
            batches = []
        self._progress.note(dry=not batches and not task.busy and not self._waiting())
        return self._counted(batches, began)

    def _room(self) -> int:
        """The largest size of the next batch.

        Only a fraction, since it is polled during a commit, which may show that the link has
        become slower.
        """
        return min(SourceTask.batch_bytes, self._most_queued() // BATCHES)

    def _queued_bytes(self) -> int:
        return self._bytes

    def _waiting(self) -> bool:
        """Whether a transaction is kept open for its interval: the lease must not end before."""
        return self._began is not None and not self._lease.limits.commit_when_dry

    def _counted(self, batches: list[SourceBatch], began: float) -> list[SourceBatch]:
        if batches:
            records = sum(batch.records.num_rows for batch in batches)
            self._progress.taken += records
            self._progress.count_batch(records, time.monotonic() - began)
        return batches

    def _produce(self, task: SourceTask, producer: Transactions, batch: SourceBatch) -> None:
        encoded = None
        if batch.records.num_rows:
            with self._committing_first(task, producer):
                encoded = self._encoded(batch)
        self._commits.settle()
        self._begin()
        if encoded is not None:
            self._send(producer, encoded)
        self._send_letters(producer)
        for partition, offset in batch.offsets:
            self._pending[canonical(partition)] = self._keyed(partition, offset)

    def _send(self, producer: Transactions, encoded: Encoded) -> None:
        if self._lease.topic_groups:
            self._new_topics.ensure(topics_in(encoded))
        sent = produce(producer, encoded)
        self._count(sent.records, sent.payload_bytes)
        self._progress.topics.note(sent.topics)

    def _send_letters(self, producer: Transactions) -> None:
        """In the transaction that also commits the offsets past those records."""
        letters = [*self._unsent, *self._letters.take_letters()]
        self._unsent = []
        self._letter_topic.ensure({letter[0] for letter in letters})
        for topic, value, key, headers, timestamp in letters:
            producer.send(topic, value, key, headers=headers, timestamp=timestamp)
            self._count(0, len(value or b"") + len(key or b""))

    def _encoded(self, batch: SourceBatch) -> Encoded:
        # What poll could not read stays, whatever is tried again here.
        self._unsent += self._letters.take_letters()

        def encode() -> Encoded:
            self._letters.forget()
            return self._encoded_now(batch, partial(self._bad, batch.offsets))

        return retried(encode, self._lease.tolerance, self._heartbeat, self._waits, self._until)

    def _encoded_now(self, batch: SourceBatch, bad: Bad) -> Encoded:
        return self._pipeline.encode(batch.records, bad)

    def _bad(self, offsets: Offsets, batch: pa.RecordBatch, error: StageError) -> None:
        self._progress.bad_records += 1
        self._note_skipped(self._letters.take_row(batch, error, offsets))

    def _note_skipped(self, letter: bool) -> None:
        self._progress.skipped += 1
        self._progress.dead_letters += letter

    def _batches(
        self, task: SourceTask, polled: SourceBatch | Sequence[SourceRecord] | None
    ) -> list[SourceBatch]:
        """Records as batches; those that do not fit their schema are set aside, if tolerated."""
        if polled is None or isinstance(polled, SourceBatch):
            return [] if polled is None else [polled]
        batches: list[SourceBatch] = []
        left = list(polled)
        while left:
            try:
                return [*batches, *pack(left)]
            except RecordError as error:
                batches += [*pack(left[: error.row]), self._unfit(task, left[error.row], error)]
                left = left[error.row + 1 :]
        return batches

    def _unfit(self, task: SourceTask, record: SourceRecord, error: RecordError) -> SourceBatch:
        self._progress.bad_records += 1
        failed = StageError(error, "TASK_POLL", type(task))
        self._note_skipped(self._letters.take_record(record, failed))
        return offsets_only([(record.source_partition, record.source_offset)])

    def _unread(self, task: SourceTask, error: RecordError) -> SourceBatch:
        self._progress.bad_records += 1
        failed = StageError(error, "TASK_POLL", type(task))
        self._note_skipped(self._letters.take_unread(failed, error))
        return offsets_only(offsets_of(error))

    def _keyed(self, partition: Mapping[str, Any], offset: Mapping[str, Any] | None) -> MovedOffset:
        """Uses the key bytes it has always had: Kafka Connect finds offsets by them."""
        moved = None if offset is None else dict(offset)
        known = self._positions.get(canonical(partition))
        if known:
            return known[0], known[1], moved
        ordered = in_order(partition, self._lease.partition_keys)
        return offset_key(self._lease.connector, ordered), ordered, moved

    def _commit(self, task: SourceTask, producer: Transactions, *, here: bool = False) -> None:
        if self._began is None:
            return
        lease, pending, records = self._lease, self._pending, self._records
        offsets = [(lease.offsets_topic, k, _stored(o)) for k, _, o in pending.values()]

        def committed() -> None:
            move(self._positions, pending)
            self._committed.update(pending)
            self._progress.given += records
            task.committed([(partition, offset) for _, partition, offset in pending.values()])

        commit = partial(self._deliver, producer, self._bytes, offsets, [])
        paced = self._paced(self._bytes, self._began, commit)
        self._begin_commit(time.monotonic(), paced, committed, here=here)
        self._pending = {}


def _stored(offset: Mapping[str, Any] | None) -> bytes | None:
    return None if offset is None else dump(offset)


def move(positions: dict[str, KeyedOffset], moved: Mapping[str, MovedOffset]) -> None:
    """Change ``positions`` to what is committed now; both are by ``canonical`` partitions."""
    for text, (key, partition, offset) in moved.items():
        if offset is None:
            positions.pop(text, None)
        else:
            positions[text] = key, partition, offset
