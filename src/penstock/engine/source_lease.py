"""A source lease, as it runs inside a Python worker of Spark.

poll → transform → convert → produce, and a commit of records and offsets together whenever a
transaction is old or big enough, or the source has run dry.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from penstock.engine.heartbeats import Heartbeat
from penstock.engine.lease import KeyedOffset, SourceLease
from penstock.engine.lease_loop import LeaseLoop
from penstock.engine.new_topics import NewTopics
from penstock.engine.pipeline import Encoded
from penstock.engine.producing import produce, topics_in
from penstock.engine.retrying import retried
from penstock.engine.stage_error import StageError
from penstock.engine.tolerating import tolerate
from penstock.kafka.errors import TransactionAborted
from penstock.kafka.json_forms import dump
from penstock.kafka.offset_keys import in_order, offset_key
from penstock.kafka.transactions import Transactions
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import RetriableError
from penstock.sdk.offsets import OffsetReader, canonical
from penstock.sdk.packing import pack
from penstock.sdk.records import SourceRecord
from penstock.sdk.tasks import SourceTask

MAX_ABORTS = 5


class SourceLoop(LeaseLoop[SourceLease]):
    """The state of one running source lease."""

    def __init__(self, lease: SourceLease, heartbeat: Heartbeat) -> None:
        super().__init__(lease, heartbeat)
        self._positions: dict[str, KeyedOffset] = {
            canonical(partition): (key, partition, offset)
            for key, partition, offset in lease.positions
        }
        self._new_topics = NewTopics(lease.topic_groups, lease.connection, lease.admin_settings)
        self._committed: dict[str, KeyedOffset] = {}
        self._pending: dict[str, KeyedOffset] = {}

    def _outcome(self) -> dict[str, Any]:
        return {"positions": tuple(self._committed.values())}

    def _move_records(self, producer: Transactions) -> None:
        """Run the task, anew from what is committed whenever a transaction was rolled back."""
        for attempt in range(MAX_ABORTS):
            task = self._lease.task_class()
            try:
                task.start(self._lease.config, self._reader())
                self._poll_until_over(task, producer)
                return
            except TransactionAborted:
                self._progress.aborts += 1
                self._pending = {}
                self._begin_anew()
                if attempt == MAX_ABORTS - 1:
                    raise
            finally:
                task.stop()

    def _reader(self) -> OffsetReader:
        return OffsetReader((p, o) for _, p, o in self._positions.values())

    def _poll_until_over(self, task: SourceTask, producer: Transactions) -> None:
        while not self._over():
            batches = self._poll(task)
            for batch in batches:
                self._produce(producer, batch)
            if self._commit_due(dry=not batches):
                self._commit(producer)
            if not batches:
                self._commits.settle()
                self._heartbeat.finish.wait(self._lease.limits.poll_pause)
        self._raise_if_orphaned()
        self._commit(producer)
        self._commits.settle()

    def _poll(self, task: SourceTask) -> list[SourceBatch]:
        began = time.monotonic()
        try:
            batches = _as_batches(task.poll())
        except RetriableError as error:
            self._progress.retries += 1
            self._heartbeat.finish.wait(error.retry_after)
            batches = []
        if batches:
            self._count_polled(batches, time.monotonic() - began)
        self._progress.note(dry=not batches and not self._waiting())
        return batches

    def _waiting(self) -> bool:
        """Whether a transaction is kept open for its time: the lease must not end before."""
        return self._began is not None and not self._lease.limits.commit_when_dry

    def _count_polled(self, batches: Sequence[SourceBatch], seconds: float) -> None:
        records = sum(batch.records.num_rows for batch in batches)
        self._progress.taken += records
        self._progress.count_batch(records, seconds)

    def _produce(self, producer: Transactions, batch: SourceBatch) -> None:
        encoded = self._encoded(batch.records)
        self._commits.settle()
        self._begin()
        if self._lease.topic_groups:
            self._new_topics.ensure(topics_in(encoded))
        sent = produce(producer, encoded)
        self._count(sent.records, sent.payload_bytes)
        self._topics |= sent.topics
        for partition, offset in batch.offsets:
            self._pending[canonical(partition)] = self._keyed(partition, offset)

    def _encoded(self, records: pa.RecordBatch) -> Encoded:
        pipeline, tolerance = self._pipeline, self._lease.tolerance
        return retried(lambda: pipeline.encode(records, self._bad), tolerance, self._heartbeat)

    def _bad(self, batch: pa.RecordBatch, error: StageError) -> None:
        topic = batch.column("topic")[error.row].as_py()
        self._progress.bad_records += 1
        tolerate(
            self._lease,
            error,
            record=f"source record is for topic {topic}",
            place=f"for topic {topic}",
            remedy="Correct it where it comes from",
        )
        self._progress.skipped += 1

    def _keyed(self, partition: Mapping[str, Any], offset: Mapping[str, Any]) -> KeyedOffset:
        """Under the key bytes it has always had: Kafka Connect finds offsets by those."""
        known = self._positions.get(canonical(partition))
        if known:
            return known[0], known[1], dict(offset)
        ordered = in_order(partition, self._lease.partition_keys)
        return offset_key(self._lease.connector, ordered), ordered, dict(offset)

    def _commit(self, producer: Transactions) -> None:
        if self._began is None:
            return
        lease, pending, records = self._lease, self._pending, self._records
        offsets = [(lease.offsets_topic, k, dump(o)) for k, _, o in pending.values()]

        def committed() -> None:
            self._positions.update(pending)
            self._committed.update(pending)
            self._progress.given += records

        members = [lease.membership.offsets()]
        commit = partial(producer.commit, offsets, members)
        self._begin_commit(time.monotonic(), commit, committed)
        self._pending = {}


def _as_batches(polled: SourceBatch | Sequence[SourceRecord] | None) -> list[SourceBatch]:
    if polled is None:
        return []
    return [polled] if isinstance(polled, SourceBatch) else pack(polled)
