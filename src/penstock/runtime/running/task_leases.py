"""The leases of one connector's tasks: at most one per task.

Leases are independent, but are asked to finish together once all of them have had no records for a
while, so that an idle connector has none. How a lease ended is an event: it waits here until the
runner's next look or turn takes it. A lease that should have ended long ago hangs: its carrier is
condemned.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.engine.carriers.carrier import Cause
from penstock.engine.carriers.codec import CodecError
from penstock.engine.carriers.orders import decode_report
from penstock.engine.driver.engine import Engine
from penstock.engine.lease.lease import End, Lease, Report

CLOSING_SECONDS = 5.0
"""What a lease has to end once it was asked to, closing its task included."""


@dataclass
class Handed:
    """A lease that was handed over and has not ended."""

    lease: Lease
    told: dict[str, Any] = field(default_factory=dict)
    began: float | None = None
    """When it was first heard from: until then it waits for a carrier, which may take long."""
    waited: float = 0.0
    """When it last reported that brokers are slow but making progress."""
    finishing: float | None = None
    hangs: bool = False

    @property
    def committed(self) -> bool:
        """Whether it has reported a transaction."""
        return bool(self.told.get("tally", {}).get("transactions", 0))

    @property
    def closing(self) -> bool:
        """Whether it has committed everything, and its task only closes what it has open."""
        return bool(self.told.get("closing"))

    def overdue(self, grace: float, now: float) -> bool:
        """Whether it should have ended long ago."""
        if self.began is None:
            return False
        if self.closing:
            grace = max(grace, CLOSING_SECONDS)
        due = self.began + self.lease.limits.lease_seconds
        if self.finishing is not None:
            due = min(due, self.finishing)
        return now - max(due, self.waited) > grace


@dataclass(frozen=True)
class Ended:
    """How a lease ended: with a report, or without one for the given cause."""

    task: int
    lease: Lease
    report: Report | None = None
    cause: Cause | None = None
    detail: str = ""
    hung: str | None = None
    """For a lease that did not end in time: where it hangs, as far as it has reported."""
    age: float = 0.0
    guilty: bool = False
    """Whether it has crashed its carrier too often."""


class TaskLeases:
    """Implements ``fleet.Listener``. Thread-safe."""

    def __init__(
        self,
        engine: Engine,
        *,
        grace: float,
        wake: Callable[[], None],
        on_progress: Callable[[Lease, dict[str, Any]], None],
        alone: Callable[[], bool] = lambda: True,
    ) -> None:
        """``wake`` is called when there is something to take; ``on_progress`` with what each
        lease reports. While this worker is ``alone``, leases may begin as soon as they ask."""
        self._engine = engine
        self._grace = grace
        self._wake = wake
        self._on_progress = on_progress
        self._changed = threading.Condition(threading.RLock())
        self._handed: dict[str, Handed] = {}
        self._ended: list[Ended] = []
        self._alone = alone
        self._asking: list[str] = []
        self._closed = threading.Event()
        self.patience = 10.0
        """Seconds without records after which all leases are asked to finish."""
        self.together = False
        """Whether all leases are to end as soon as one has: their work is divided again then."""

    # Called by the runner.

    @property
    def idle(self) -> bool:
        """Whether no lease runs, and the end of none is yet to be taken."""
        with self._changed:
            return not self._handed and not self._ended

    def take(self) -> tuple[list[Ended], set[int]]:
        """How leases have ended since the last call, and the tasks whose leases still run."""
        with self._changed:
            ended, self._ended = self._ended, []
            return ended, {handed.lease.task for handed in self._handed.values()}

    def hand_over(self, lease: Lease) -> bool:
        """Have the lease run; False if no more leases may be handed over."""
        with self._changed:
            if self._closed.is_set():
                return False
            self._handed[lease.lease_id] = Handed(lease)
        try:
            self._engine.run(lease, self)
        except CodecError as error:
            self.reported(lease.lease_id, None, trace=str(error))
        if self._closed.is_set():  # meanwhile: `end` could not find it yet
            self._engine.fleet.finish(lease.lease_id)
        return True

    def take_asking(self) -> list[str]:
        """The leases that ask, since the last call, whether they may begin (rule 10)."""
        with self._changed:
            asking, self._asking = self._asking, []
            return asking

    def confirm(self, leases: list[str]) -> None:
        """Let these begin."""
        for lease in leases:
            self._engine.fleet.confirm(lease)

    def finish(self) -> None:
        """Ask all leases to commit what they have and end."""
        with self._changed:
            leases = list(self._handed)
            self._mark_finishing(leases)
        for lease in leases:
            self._engine.fleet.finish(lease)

    def finish_uncommitted(self) -> None:
        """Ask those to end that have not committed yet: in a new generation they never can."""
        with self._changed:
            leases = [i for i, h in self._handed.items() if not h.committed]
            self._mark_finishing(leases)
        for lease in leases:
            self._engine.fleet.finish(lease)

    def close(self) -> None:
        """Hand over no more leases."""
        with self._changed:
            self._closed.set()

    def end(self, seconds: float) -> bool:
        """Finish all leases; after ``seconds`` revoke those that still run. Whether none did that
        had not committed yet.

        A revoked lease may live on for a moment: it must be fenced. One that only closes its task
        may do so until its time is over, and disturbs no other.
        """
        for lease in list(self._handed):
            if self._engine.fleet.withdraw(lease):
                self._forget(lease)
        self.finish()
        with self._changed:
            self._changed.wait_for(lambda: not self._handed, seconds)
            left = {lease: handed.closing for lease, handed in self._handed.items()}
        for lease, closing in left.items():
            if closing:
                self._engine.fleet.leave_closing(lease, CLOSING_SECONDS - seconds)
            else:
                self._engine.fleet.condemn(lease)
                self._engine.fleet.revoke(lease)
            self._forget(lease)
        return all(left.values())

    def check(self) -> None:
        """Condemn the carriers of leases that should have ended long ago."""
        now = time.monotonic()
        with self._changed:
            overdue = [i for i, h in self._handed.items() if h.overdue(self._grace, now)]
            for lease in overdue:
                self._handed[lease].hangs = True
        for lease in overdue:
            self._engine.fleet.condemn(lease)

    def waiting(self) -> bool:
        """Whether leases wait for a carrier, and none runs."""
        leases = list(self._handed)
        return bool(leases) and all(map(self._engine.fleet.waits, leases))

    # Called by the fleet.

    def progressed(self, lease: str, told: dict[str, Any]) -> None:
        """The lease has reported its progress."""
        with self._changed:
            handed = self._handed.get(lease)
            if handed is None:
                return
            now = time.monotonic()
            handed.began = handed.began or now
            if told.get("waits", 0) != handed.told.get("waits", 0):
                handed.waited = now
            handed.told = told
            dry = self._all_dry()
        self._on_progress(handed.lease, told)
        if dry:
            self.finish()

    def asked(self, lease: str) -> None:
        """The lease asks whether it may begin.

        If there are other workers, the connector may have been given to one of them since.
        """
        if self._alone():
            self._engine.fleet.confirm(lease)
            return
        with self._changed:
            self._asking.append(lease)
        self._wake()

    def reported(self, lease: str, report: Any, *, trace: str = "") -> None:
        """The lease has ended with this report; without one, it failed for ``trace``."""
        with self._changed:
            handed = self._handed.get(lease)
        if handed is None:
            return
        task = handed.lease.task
        if report is None:
            made = Report(task, lease, End.FAILED, trace=trace)
        else:
            made = replace(decode_report(report), task=task)
        self._note(lease, Ended(task, handed.lease, made))

    def lost(self, lease: str, cause: Cause, detail: str) -> None:
        """The lease is gone without a report."""
        self._note_loss(lease, cause, detail, guilty=False)

    def guilty(self, lease: str, detail: str) -> None:
        """The lease is gone, and has crashed its carrier too often."""
        self._note_loss(lease, Cause.CRASHED, detail, guilty=True)

    def _note_loss(self, lease: str, cause: Cause, detail: str, *, guilty: bool) -> None:
        with self._changed:
            handed = self._handed.get(lease)
        if handed is None:
            return
        hung = str(handed.told.get("stuck", "")) if handed.hangs else None
        age = 0.0 if handed.began is None else time.monotonic() - handed.began
        task = handed.lease.task
        self._note(lease, Ended(task, handed.lease, None, cause, detail, hung, age, guilty))

    def _note(self, lease: str, ended: Ended) -> None:
        with self._changed:
            if self._handed.pop(lease, None) is None:
                return
            self._ended.append(ended)
            self._changed.notify_all()
            together = self.together
        if together:
            self.finish()
        self._wake()

    def _mark_finishing(self, leases: list[str]) -> None:
        now = time.monotonic()
        for lease in leases:
            self._handed[lease].finishing = self._handed[lease].finishing or now

    def _forget(self, lease: str) -> None:
        with self._changed:
            self._handed.pop(lease, None)
            self._changed.notify_all()

    def _all_dry(self) -> bool:
        seconds = [handed.told.get("dry") for handed in self._handed.values()]
        return all(dry is not None and dry >= self.patience for dry in seconds)
