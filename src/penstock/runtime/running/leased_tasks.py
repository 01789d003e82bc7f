"""The tasks of a connector, their leases, and what is learned from how these end."""

from __future__ import annotations

import logging
import uuid
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.engine.lease.lease import End, Lease, Limits, Membership, Report
from penstock.engine.lease.pace import Pace
from penstock.logs.subject import about
from penstock.runtime.meters.loss_reasons import loss_of, reason_for
from penstock.runtime.plugins import Plugin
from penstock.runtime.running.active_topics import ActiveTopics
from penstock.runtime.running.context import Context
from penstock.runtime.running.started_connector import StartedConnector
from penstock.runtime.running.suspects import Suspects
from penstock.runtime.running.task_leases import Ended, TaskLeases
from penstock.runtime.running.unverified import Unverified
from penstock.sdk.config import ConfigDef

log = logging.getLogger(__name__)


class LeasedTasks(StartedConnector):
    """At most one lease per task; each begins where the last one that reported has ended."""

    _leases_class: type[TaskLeases] = TaskLeases

    def __init__(
        self,
        context: Context,
        name: str,
        config: Mapping[str, str],
        plugin: Plugin,
        definition: ConfigDef,
        *,
        failed: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(context, name, config, plugin, definition, failed=failed)
        self._unverified = Unverified()
        self._suspects = Suspects()
        self._previous: dict[int, str] = {}
        self._paces: dict[int, Pace] = {}
        self._active_topics = ActiveTopics(
            name, context.configs, context.statuses, bool(context.worker["topic.tracking.enable"])
        )
        self._leases = self._leases_class(
            context.engine,
            grace=context.worker["turn.grace.ms"] / 1000,
            wake=self._wake,
            on_progress=self._note_progress,
            alone=context.alone,
        )
        self._running: set[int] = set()
        """Tasks whose leases ran when their ends were last taken."""
        self._standing: Membership | None = None

    @abstractmethod
    def _absorb(self, report: Report) -> None:
        """Adopt the positions that a lease has committed."""

    @abstractmethod
    def _wake(self) -> None:
        """A lease has ended: look soon. Called on any thread."""

    def _finish_leases(self) -> None:
        self._leases.finish()

    def _resting(self) -> list[int]:
        """Tasks that may run and have no lease."""
        return [task for task in self._live() if task not in self._running]

    def _base_lease(self, task: int, limits: Limits) -> Lease:
        """The next lease of a task, without what only one of the two kinds has."""
        assert self._standing is not None  # noqa: S101 (set by each turn)
        lease = self._task_lease(task, uuid.uuid4().hex, self._standing, limits)
        pace = self._paces.get(task, Pace())
        return replace(lease, previous=self._previous.get(task), pace=pace)

    def _note_progress(self, lease: Lease, told: dict[str, Any]) -> None:
        """Called by the fleet, on its threads."""
        if self.meter.beat(lease, told):
            self._standstill.progressed(lease.task)
        if (awaited := told.get("awaits")) is not None:
            self._standstill.task_awaits(lease.task, awaited)
        self._active_topics.note(lease.task, told.get("topics", ()))

    def _take_ended(self) -> list[Ended]:
        """Take how leases have ended since the last call; returns it."""
        ended, self._running = self._leases.take()
        for each in ended:
            if each.report is not None:
                self._take(each.report)
            else:
                self._take_loss(each)
        return ended

    def _take(self, report: Report) -> None:
        self.meter.task(report.task).end(report)
        if report.pace is not None:
            self._paces[report.task] = report.pace
        self._absorb(report)
        self._active_topics.note(report.task, report.topics)
        if report.end is End.DONE or report.tally.transactions:
            self._standstill.progressed(report.task)
        if report.end is End.DONE:
            self._previous[report.task] = report.lease_id
            self._suspects.cleared(report.task)
        else:
            self._unverified.lose(report.task)
            with about(self.name, report.task):
                log.info("the lease ended: %s %s", report.end, report.trace)
        if (reason := loss_of(report)) is not None:
            self._standstill.lost(report.task, reason, report.trace)
        if report.end is End.FAILED:
            self._fail_task(report.task, report.trace, report.uncommitted)

    def _take_loss(self, ended: Ended) -> None:
        task = ended.task
        self.meter.broken(ended.lease)
        self._unverified.lose(task)
        with about(self.name, task):
            if ended.hung is None:
                log.info("the lease was lost: %s", ended.cause)
            else:
                log.warning("the task does not return, its lease has expired. %s", _where(ended))
        if (reason := reason_for(ended.cause, hung=ended.hung is not None)) is not None:
            self._standstill.lost(task, reason, ended.detail)
        if (trace := self._suspects.blame(ended)) is not None:
            self._fail_task(task, trace)


def _where(ended: Ended) -> str:
    return f"It hangs here:\n{ended.hung}" if ended.hung else "It has not said where it hangs."
