"""A source lease, as it runs inside a Python worker of Spark.

poll → transform → convert → produce, and a commit of records and offsets together whenever a
transaction is old or big enough, or the source has run dry.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.engine import producers
from penstock.engine.heartbeats import Heartbeat, beating
from penstock.engine.lease import End, KeyedOffset, Report, SourceLease
from penstock.engine.lease_logs import logged
from penstock.engine.producing import produce
from penstock.engine.traces import ending_of, trace_of
from penstock.kafka.errors import LeaseLost, TransactionAborted
from penstock.kafka.json_forms import dump
from penstock.kafka.offset_keys import in_order, offset_key
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import RetriableError
from penstock.sdk.offsets import OffsetReader, canonical
from penstock.sdk.packing import pack
from penstock.sdk.records import SourceRecord
from penstock.sdk.tasks import SourceTask

log = logging.getLogger(__name__)

MAX_ABORTS = 5


def run(lease: SourceLease) -> Report:
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

    def __init__(self, lease: SourceLease, heartbeat: Heartbeat) -> None:
        self._lease = lease
        self._heartbeat = heartbeat
        self._progress = heartbeat.progress
        self._positions: dict[str, KeyedOffset] = {
            canonical(partition): (key, partition, offset)
            for key, partition, offset in lease.positions
        }
        self._committed: dict[str, KeyedOffset] = {}
        self._pending: dict[str, KeyedOffset] = {}
        self._began: float | None = None
        self._records = 0
        self._bytes = 0
        self._topics: set[str] = set()
        self._until = time.monotonic() + lease.limits.lease_seconds

    def report(self, end: End, trace: str) -> Report:
        """What the worker is told."""
        return Report(
            task=self._lease.task,
            lease_id=self._lease.lease_id,
            end=end,
            positions=tuple(self._committed.values()),
            records=self._progress.records,
            payload_bytes=self._progress.payload_bytes,
            topics=frozenset(self._topics),
            trace=trace,
        )

    def run(self) -> End:
        """Poll and commit until told to finish; a clean end keeps the producer for the next."""
        producer = producers.acquire(self._lease)
        try:
            end = self._run_task(producer)
        except BaseException:
            producer.abort()
            raise
        if end is End.DONE:
            producers.keep(self._lease, producer)
        return end

    def _run_task(self, producer: Transactions) -> End:
        """Run the task, anew from what is committed whenever a transaction was rolled back."""
        for attempt in range(MAX_ABORTS):
            task = self._lease.task_class()
            try:
                task.start(self._lease.config, self._reader())
                return self._poll_until_over(task, producer)
            except TransactionAborted:
                self._forget_pending()
                if attempt == MAX_ABORTS - 1:
                    raise
            finally:
                task.stop()
        raise AssertionError("unreachable")

    def _reader(self) -> OffsetReader:
        return OffsetReader((p, o) for _, p, o in self._positions.values())

    def _poll_until_over(self, task: SourceTask, producer: Transactions) -> End:
        while not self._over():
            batches = self._poll(task)
            for batch in batches:
                self._produce(producer, batch)
            if self._commit_due(dry=not batches):
                self._commit(producer)
            if not batches:
                self._heartbeat.finish.wait(self._lease.limits.poll_pause)
        if self._heartbeat.orphaned.is_set():
            raise LeaseLost("the worker no longer answers heartbeats")
        self._commit(producer)
        return End.DONE

    def _over(self) -> bool:
        return self._heartbeat.over or time.monotonic() > self._until

    def _poll(self, task: SourceTask) -> list[SourceBatch]:
        try:
            batches = _as_batches(task.poll())
        except RetriableError as error:
            self._heartbeat.finish.wait(error.retry_after)
            batches = []
        self._progress.note(dry=not batches)
        return batches

    def _produce(self, producer: Transactions, batch: SourceBatch) -> None:
        if self._began is None:
            self._began = time.monotonic()
        sent = produce(producer, self._lease.pipeline.encode(batch.records))
        self._records += sent.records
        self._bytes += sent.payload_bytes
        self._topics |= sent.topics
        for partition, offset in batch.offsets:
            self._pending[canonical(partition)] = self._keyed(partition, offset)

    def _keyed(self, partition: Mapping[str, Any], offset: Mapping[str, Any]) -> KeyedOffset:
        """Under the key bytes it has always had: Kafka Connect finds offsets by those."""
        known = self._positions.get(canonical(partition))
        if known:
            return known[0], known[1], dict(offset)
        ordered = in_order(partition, self._lease.partition_keys)
        return offset_key(self._lease.connector, ordered), ordered, dict(offset)

    def _commit_due(self, *, dry: bool) -> bool:
        limits = self._lease.limits
        return self._began is not None and (
            dry
            or time.monotonic() - self._began >= limits.transaction_seconds
            or self._records >= limits.transaction_records
            or self._bytes >= limits.transaction_bytes
        )

    def _commit(self, producer: Transactions) -> None:
        if self._began is None:
            return
        lease = self._lease
        offsets = [(lease.offsets_topic, k, dump(o)) for k, _, o in self._pending.values()]
        standing = GroupOffsets(lease.membership.metadata, [(lease.membership.topic, 0, 0, "")])
        producer.commit(offsets, [standing])
        log.debug("committed %d records", self._records)
        self._progress.step()
        self._positions.update(self._pending)
        self._committed.update(self._pending)
        self._progress.records += self._records
        self._progress.payload_bytes += self._bytes
        self._progress.transactions += 1
        self._forget_pending()

    def _forget_pending(self) -> None:
        self._pending = {}
        self._began = None
        self._records = self._bytes = 0


def _as_batches(polled: SourceBatch | Sequence[SourceRecord] | None) -> list[SourceBatch]:
    if polled is None:
        return []
    return [polled] if isinstance(polled, SourceBatch) else pack(polled)
