"""The tasks of a frame turn, in the place of leases on carriers: at most one turn at a time.

How a turn ended becomes the ends of its tasks, which the runner takes as it takes those of leases.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from penstock.engine.carriers.carrier import Cause
from penstock.engine.driver.frame_turns import RunningTurn, Turn, TurnDone
from penstock.engine.lease.lease import End, Lease, Report
from penstock.engine.lease.traces import trace_of
from penstock.logs.secrets import hidden_from
from penstock.runtime.running.task_leases import Ended, Handed, TaskLeases

log = logging.getLogger(__name__)

LONGEST_SECONDS = 60.0
"""By then the brokers abort its transactions. The first turn waits for Python workers to start."""
MOST_CRASHES = 3
"""How often in a row the processes of a turn may crash before its tasks fail."""


class TurnLeases(TaskLeases):
    """Thread-safe."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn: RunningTurn | None = None
        self._done: list[TurnDone] = []
        self._crashes = 0

    def run_turn(self, turn: Turn, leases: tuple[Lease, ...], wanted: Callable[[], bool]) -> bool:
        """Run a turn, while none runs; False if no more may be run."""
        with self._changed:
            if self._closed.is_set():
                return False
            self._handed = {lease.lease_id: Handed(lease) for lease in leases}
            self._turn = self._engine.turns.begin(
                turn, wanted, lambda done: self._ended_turn(leases, done)
            )
        return True

    def take_done(self) -> list[TurnDone]:
        """How turns ended since the last call."""
        with self._changed:
            done, self._done = self._done, []
            return done

    def end(self, seconds: float) -> bool:
        """Wait for the turn to end; after ``seconds``, revoke it."""
        ended = super().end(seconds)
        if not ended and self._turn is not None:
            self._turn.revoke()
        return ended

    def waiting(self) -> bool:
        """Whether the turn waits for an executor."""
        with self._changed:
            turn = self._turn if self._handed else None
        return turn is not None and turn.awaits_executor

    def check(self) -> None:
        """Revoke a turn that should have ended long ago."""
        with self._changed:
            turn, handed = self._turn, dict(self._handed)
        if turn is None or turn.waits or not handed:
            return
        leases = [each.lease.limits.lease_seconds for each in handed.values()]
        if time.monotonic() - turn.heard > max(LONGEST_SECONDS, *leases) + self._grace:
            where = turn.where()
            turn.revoke()
            for lease, each in handed.items():
                each.hangs, each.began, each.told = True, turn.began, {"stuck": where}
                self.lost(lease, Cause.CANCELLED, "the turn did not end")

    def _ended_turn(self, leases: tuple[Lease, ...], done: TurnDone) -> None:
        with self._changed:
            self._done.append(done)
        self._crashes = self._crashes + 1 if done.cause is Cause.CRASHED else 0
        for lease, report in zip(leases, _reports(leases, done), strict=True):
            if report is not None:
                self._note(lease.lease_id, Ended(lease.task, lease, report))
            elif self._crashes >= MOST_CRASHES:
                self.guilty(lease.lease_id, done.detail)
            else:
                self.lost(lease.lease_id, done.cause or Cause.VANISHED, done.detail)


def _reports(leases: tuple[Lease, ...], done: TurnDone) -> list[Report | None]:
    if done.error is not None:
        return [_failed(lease, done.error) for lease in leases]
    known = {report.lease_id: report for report in (done.outcome.reports if done.outcome else ())}
    return [known.get(lease.lease_id) for lease in leases]


def _failed(lease: Lease, error: Exception) -> Report:
    trace = trace_of(error, (*lease.secrets, *hidden_from(lease.connector)))
    return Report(lease.task, lease.lease_id, End.FAILED, trace=trace)
