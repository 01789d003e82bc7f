"""What source and sink leases have in common: they always end with a report, and count.

A loop reads records, groups them into transactions and commits. When a transaction is due, when
the lease ends and what is reported is decided here.
"""

from __future__ import annotations

import logging
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from penstock.engine.lease import producers
from penstock.engine.lease.buffers import transaction_bytes
from penstock.engine.lease.commits import Commits
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import End, Lease, Membership, Report
from penstock.engine.lease.lease_config import resolved
from penstock.engine.lease.lost_leases import Orphaned
from penstock.engine.lease.pace import LEAST
from penstock.engine.lease.pauses import Pauses
from penstock.engine.lease.starting import DOOR
from penstock.engine.lease.tally import Tally
from penstock.engine.lease.traces import ending_of, trace_of
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.errors import GenerationChanged
from penstock.kafka.patience import Patience
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.logs.secrets import hidden_from

log = logging.getLogger(__name__)

STALLED_SECONDS = 30.0
"""Seconds for which brokers may accept nothing before a lease gives up its transaction."""

RENEWAL_SECONDS, RENEWAL_PAUSE = 10.0, 0.1
"""How long a lease waits for the worker's membership in a new generation, and between looks."""

L = TypeVar("L", bound=Lease)


class LeaseLoop(ABC, Generic[L]):
    """The state of one running lease."""

    _began: float | None = None
    _records = 0
    _bytes = 0
    _acknowledged = 0.0
    """When the brokers had all records of the commit in progress, as far as that was awaited."""

    def __init__(self, lease: L, heartbeat: Heartbeat) -> None:
        assert isinstance(lease.pipeline, Pipeline)  # noqa: S101 (its settings are resolved)
        self._lease = lease
        self._pipeline = lease.pipeline
        self._heartbeat = heartbeat
        self._progress = heartbeat.progress
        self._commits = Commits()
        self._pace = replace(lease.pace)
        self._pauses = Pauses(lease.limits.poll_pause, heartbeat.leases)
        self._used = lease.membership
        # Not all at once, although many may have begun together.
        seconds = lease.limits.lease_seconds * random.uniform(0.8, 1.0)  # noqa: S311 (no secret)
        self._until = time.monotonic() + seconds

    def run(self) -> None:
        """Move records until the lease ends; after a clean end, keep the producer for the next."""
        waiting = self._heartbeat.orphaned.is_set, self._progress.wait
        with DOOR.passing(self._heartbeat):
            producer = producers.acquire(self._lease, Patience(STALLED_SECONDS, *waiting))
        try:
            self._ask_before_beginning()
            self._move_records(producer)
        except BaseException:
            self._commits.close()
            producer.abort()
            raise
        self._commits.close()
        producers.keep(self._lease, producer)

    def _ask_before_beginning(self) -> None:
        """Rule 10: a lease that starts late has initialised its producer after it was fenced.

        The worker revokes a lease before it fences, and never confirms a revoked one.
        """
        if not self._heartbeat.confirm():
            raise Orphaned("the worker no longer wants this lease")

    @abstractmethod
    def _move_records(self, producer: Transactions) -> None:
        """Run the task until ``_over``, commit what it has moved, and wait for the last commit."""

    @abstractmethod
    def _outcome(self) -> dict[str, Any]:
        """The fields of the report that only this kind of lease has."""

    def report(self, end: End, trace: str) -> Report:
        """The report to the worker."""
        return Report(
            task=self._lease.task,
            lease_id=self._lease.lease_id,
            end=end,
            records=self._progress.records,
            payload_bytes=self._progress.payload_bytes,
            topics=self._progress.topics.rest(),
            trace=trace,
            tally=Tally(**self._progress.tell()),
            pace=self._pace,
            **self._outcome(),
        )

    def _over(self) -> bool:
        return self._heartbeat.over or time.monotonic() > self._until

    def _raise_if_orphaned(self) -> None:
        if self._heartbeat.orphaned.is_set():
            raise Orphaned("the worker does not answer, or has revoked the lease")

    def _begin(self) -> None:
        """Begin a transaction, unless one is open already."""
        self._began = self._began or time.monotonic()

    def _count(self, records: int, payload_bytes: int) -> None:
        """Count what was added to the transaction."""
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
            or self._queued_bytes() >= self._most_queued()
        )

    def _most_queued(self) -> int:
        """As much as the link carries, but no more than this lease's share of its process."""
        return min(self._pace.most_bytes, transaction_bytes(self._heartbeat.leases()))

    @abstractmethod
    def _queued_bytes(self) -> int:
        """How many bytes of the open transaction are sent over the link to Kafka."""

    def _deliver(
        self,
        producer: Transactions,
        size: int,
        records: Iterable[tuple[str, bytes, bytes | None]],
        groups: Sequence[GroupOffsets],
    ) -> None:
        """Commit with these, once the ``size`` bytes already sent have been acknowledged.

        The membership is added, so that the broker rejects a worker that was replaced (rule 3).
        """
        if size >= LEAST:
            producer.drain()
            self._acknowledged = time.monotonic()
        self._used = self._membership()
        producer.commit(records, [*groups, self._used.offsets()])

    def _membership(self) -> Membership:
        """The worker's latest, once this lease has committed with the one it was given (rule 3).

        That commit shows that its producer is older than the next generation: a worker that took
        over since then has fenced it. A lease that began later may have begun from positions that
        another worker had moved already, and with the membership it was given it cannot commit.
        """
        given = self._lease.membership
        if not self._progress.transactions:
            return given
        told = self._heartbeat.standing()
        return told if told is not None and told.follows(given) else given

    def _renew(self, refused: GenerationChanged) -> None:
        """Wait for a membership other than the one that was refused; raises if there is none."""
        until = time.monotonic() + RENEWAL_SECONDS
        while self._membership() == self._used:
            if not self._progress.transactions or time.monotonic() > until:
                raise refused
            self._raise_if_orphaned()
            self._heartbeat.orphaned.wait(RENEWAL_PAUSE)
        log.info("the workers' group has a new generation: the lease goes on with it")

    def _paced(
        self, size: int, since: float | None, commit: Callable[[], None]
    ) -> Callable[[], None]:
        """``commit``, measuring the link's capacity: ``size`` bytes were sent since then."""

        def paced() -> None:
            self._acknowledged = began = time.monotonic()
            try:
                commit()
            except BaseException:
                ended = time.monotonic()
                self._pace.fail(size, commit=ended - began, whole=ended - (since or began))
                raise
            ended = time.monotonic()
            rounds = ended - self._acknowledged
            self._pace.learn(
                size, commit=ended - began, rounds=rounds, whole=ended - (since or began)
            )

        return paced

    def _begin_commit(
        self,
        began: float,
        commit: Callable[[], None],
        then: Callable[[], None],
        *,
        here: bool = False,
    ) -> None:
        """Start a commit in the background, whose first part began at that time; or, ``here``,
        carry it out at once.

        What was counted so far counts as moved once it has succeeded; ``then`` is called first.
        """
        records, payload_bytes = self._records, self._bytes

        def committed() -> None:
            then()
            log.debug("committed %d records", records)
            self._progress.step()
            self._progress.count_commit(records, payload_bytes, self._commits.ended - began)

        (self._commits.run if here else self._commits.begin)(commit, committed)
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._began = None
        self._records = self._bytes = self._progress.active = 0


def run(lease: L, loop_class: type[LeaseLoop[L]], heartbeat: Heartbeat) -> Report:
    """Run the lease to its end. Never raises: any error is in the report."""
    try:
        lease = resolved(lease)
    except BaseException as error:  # noqa: BLE001 (a converter's or transform's own, too)
        trace = trace_of(error, hidden_from(lease.connector))
        return Report(lease.task, lease.lease_id, End.FAILED, trace=trace)
    loop = loop_class(lease, heartbeat)
    end, trace = End.DONE, ""
    try:
        loop.run()
    except BaseException as error:  # noqa: BLE001 (a task's error is data, SystemExit too)
        end, trace = ending_of(error), trace_of(error, lease.secrets)
    return loop.report(end, trace)
