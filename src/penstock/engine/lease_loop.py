"""What leases of both kinds do alike: run to an end that is always a report, and count.

A loop takes records in, bundles them into transactions and commits; when a transaction is due,
when the lease is over and how it is reported is decided here.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from penstock.engine import producers
from penstock.engine.commits import Commits
from penstock.engine.heartbeats import Heartbeat, beating
from penstock.engine.lease import End, Lease, Report
from penstock.engine.lease_config import resolved
from penstock.engine.lease_logs import logged
from penstock.engine.pipeline import Pipeline
from penstock.engine.tally import Tally
from penstock.engine.traces import ending_of, trace_of
from penstock.kafka.errors import LeaseLost
from penstock.kafka.transactions import Transactions
from penstock.logs.secrets import hidden_from
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

L = TypeVar("L", bound=Lease)


class LeaseLoop(ABC, Generic[L]):
    """The state of one running lease."""

    _began: float | None = None
    _records = 0
    _bytes = 0

    def __init__(self, lease: L, heartbeat: Heartbeat) -> None:
        assert isinstance(lease.pipeline, Pipeline)  # noqa: S101 (its settings are resolved)
        self._lease = lease
        self._pipeline = lease.pipeline
        self._heartbeat = heartbeat
        self._progress = heartbeat.progress
        self._commits = Commits()
        self._topics: set[str] = set()
        self._until = time.monotonic() + lease.limits.lease_seconds

    def run(self) -> None:
        """Move records until the lease is over; a clean end keeps the producer for the next."""
        producer = producers.acquire(self._lease)
        try:
            self._move_records(producer)
        except BaseException:
            self._commits.close()
            producer.abort()
            raise
        self._commits.close()
        producers.keep(self._lease, producer)

    @abstractmethod
    def _move_records(self, producer: Transactions) -> None:
        """Run the task until ``_over``, commit what it has moved, and settle the last commit."""

    @abstractmethod
    def _outcome(self) -> dict[str, Any]:
        """The fields of the report that only this kind of lease has."""

    def report(self, end: End, trace: str) -> Report:
        """What the worker is told."""
        return Report(
            task=self._lease.task,
            lease_id=self._lease.lease_id,
            end=end,
            records=self._progress.records,
            payload_bytes=self._progress.payload_bytes,
            topics=frozenset(self._topics),
            trace=trace,
            tally=Tally(**self._progress.tell()),
            **self._outcome(),
        )

    def _over(self) -> bool:
        return self._heartbeat.over or time.monotonic() > self._until

    def _raise_if_orphaned(self) -> None:
        if self._heartbeat.orphaned.is_set():
            raise LeaseLost("the worker no longer answers heartbeats")

    def _begin(self) -> None:
        """A transaction begins now, unless one is open already."""
        self._began = self._began or time.monotonic()

    def _count(self, records: int, payload_bytes: int) -> None:
        """So much more is in the transaction."""
        self._records += records
        self._bytes += payload_bytes
        self._progress.active = self._records

    def _commit_due(self, *, dry: bool) -> bool:
        limits = self._lease.limits
        return self._began is not None and (
            (dry and limits.commit_when_dry)
            or time.monotonic() - self._began >= limits.transaction_seconds
            or self._records >= limits.transaction_records
            or self._bytes >= limits.transaction_bytes
        )

    def _begin_commit(
        self, began: float, commit: Callable[[], None], then: Callable[[], None]
    ) -> None:
        """Start a commit, whose first part began then, beside which the lease goes on.

        What was counted up to now is moved once it is in; ``then`` is called first.
        """
        records, payload_bytes = self._records, self._bytes

        def committed() -> None:
            then()
            log.debug("committed %d records", records)
            self._progress.step()
            self._progress.count_commit(records, payload_bytes, self._commits.ended - began)

        self._commits.begin(commit, committed)
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._began = None
        self._records = self._bytes = self._progress.active = 0


def run(lease: L, loop_class: type[LeaseLoop[L]]) -> Report:
    """Run the lease to its end. Never raises: whatever happens is in the report."""
    with (
        logged(lease) as lines,
        beating(lease.heartbeat, lease.lease_id, lease.limits, lines) as heartbeat,
    ):
        try:
            lease = resolved(lease)
        except ConfigError as error:
            heartbeat.progress.ended_early = True
            trace = trace_of(error, hidden_from(lease.connector))
            return Report(lease.task, lease.lease_id, End.FAILED, trace=trace)
        loop = loop_class(lease, heartbeat)
        end, trace = End.DONE, ""
        try:
            loop.run()
        except Exception as error:  # noqa: BLE001 (a task's error is data, whatever it is)
            end, trace = ending_of(error), trace_of(error, lease.secrets)
            heartbeat.progress.ended_early = True
        return loop.report(end, trace)
