"""What this worker's connectors have done: counted as leases beat and report.

An update costs the same however many records it covers: one per heartbeat, report, look and turn.
``runtime.views.metrics_text`` and ``runtime.views.metrics_view`` read them. Counts start at zero
with each worker process.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.engine.lease.lease import End, Lease, Report
from penstock.engine.lease.tally import Tally
from penstock.runtime.meters.loss_reasons import Reason
from penstock.runtime.meters.losses import Losses
from penstock.runtime.meters.startups import Startup, Startups
from penstock.runtime.meters.state_times import StateTimes
from penstock.runtime.meters.streaks import Streak
from penstock.runtime.states import Status

WINDOW_SECONDS = 60.0
BUCKET_SECONDS = 1.0
FIRST_WAIT = 1.0
"""How long a connector that cannot continue waits at first."""

Clock = Callable[[], float]


class Window:
    """What was counted within the last minute. Not thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._born = clock()
        self._buckets: deque[tuple[float, Tally]] = deque()

    def add(self, more: Tally) -> None:
        """Count ``more`` as of now."""
        now = self._clock()
        if not self._buckets or now - self._buckets[-1][0] >= BUCKET_SECONDS:
            self._buckets.append((now, Tally()))
        self._buckets[-1][1].add(more)
        self._drop(now)

    def sum(self) -> Tally:
        """Everything that is not older than a minute."""
        self._drop(self._clock())
        total = Tally()
        for _, tally in self._buckets:
            total.add(tally)
        return total

    @property
    def seconds(self) -> float:
        """How long the window is: a minute, or less while the task is young."""
        return min(WINDOW_SECONDS, max(BUCKET_SECONDS, self._clock() - self._born))

    def _drop(self, now: float) -> None:
        while self._buckets and now - self._buckets[0][0] > WINDOW_SECONDS:
            self._buckets.popleft()


class TaskMeter:
    """One task, over all its leases. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._lock = threading.Lock()
        self._window = Window(clock)
        self._lease = ""
        self._seen = Tally()
        self._over = True
        self.total = Tally()
        self.active = 0
        self.ends: Counter[End] = Counter()
        self.lost: Counter[Reason] = Counter()
        """Leases that were lost, with or without a report; counted by the runner."""
        self.last_error_ms: int | None = None
        self.states = StateTimes(clock)
        self.startup = Startup()

    def begin(self, lease_id: str) -> None:
        """A lease of this task is about to run; beats of earlier leases are ignored from now on."""
        with self._lock:
            self._lease, self._seen, self._over = lease_id, Tally(), False

    def beat(self, lease_id: str, tally: Tally, active: int) -> bool:
        """Record a lease's progress; returns whether it has committed since its last beat."""
        with self._lock:
            if lease_id != self._lease or self._over:
                return False
            committed = tally.transactions > self._seen.transactions
            self._advance(tally)
            self.active = active
            return committed

    def end(self, report: Report) -> None:
        """The lease is over, with this report."""
        with self._lock:
            if report.lease_id == self._lease:
                self._advance(report.tally)
            self._over, self.active = True, 0
            self.ends[report.end] += 1
            if report.end is End.FAILED:
                self._note_error()
            elif report.end is End.DONE:
                self.startup.succeeded()

    def break_off(self) -> None:
        """The lease has ended without a report: only its last beat is known."""
        with self._lock:
            self._over, self.active = True, 0

    def note_failure(self) -> None:
        """The task is FAILED for a reason that is in no report."""
        with self._lock:
            self._note_error()
            self.startup.failed()

    def last_minute(self) -> tuple[Tally, float]:
        """The counts of the last minute, and over how many seconds."""
        with self._lock:
            return self._window.sum(), self._window.seconds

    def _advance(self, tally: Tally) -> None:
        new = tally.since(self._seen)
        self._seen = tally
        self.total.add(new)
        self._window.add(new)
        if new.taken:
            self.startup.succeeded()
        if new.bad_records or new.retries or new.aborts:
            self._note_error()

    def _note_error(self) -> None:
        self.last_error_ms = int(time.time() * 1000)


@dataclass(frozen=True)
class AutoRestarts:
    """Automatic restarts of a connector since it was last healthy for long enough."""

    count: int = 0
    last: float = 0.0
    """By the clock of the restarting worker."""
    last_ms: int | None = None


class ConnectorMeter:
    """One connector and its tasks. Counters that one thread alone changes need no lock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tasks: dict[int, TaskMeter] = {}
        self.looks = 0
        self.turns = 0
        self.broken_turns = 0
        self.restarts = 0
        self.auto_restarts = AutoRestarts()
        self.losses = Losses(clock)
        self.waits = Streak(FIRST_WAIT, clock=clock)

    def follow(self, losses: Losses, waits: Streak) -> None:
        """Report these from now on: the connector has a new runner."""
        self.losses, self.waits = losses, waits

    def task(self, task: int) -> TaskMeter:
        """The meter of one task."""
        with self._lock:
            found = self._tasks.get(task)
            if found is None:
                found = self._tasks[task] = TaskMeter(self._clock)
            return found

    def begin(self, lease: Lease) -> None:
        """A lease is handed over."""
        self.turns += 1
        self.task(lease.task).begin(lease.lease_id)

    def beat(self, lease: Lease, told: Mapping[str, Any]) -> bool:
        """Count what a lease has reported; returns whether it has committed since the last time."""
        return self.task(lease.task).beat(lease.lease_id, Tally(**told["tally"]), told["active"])

    def broken(self, lease: Lease) -> None:
        """The lease has ended without a report."""
        self.broken_turns += 1
        self.task(lease.task).break_off()


class Metrics:
    """All meters of this worker. Thread-safe."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._meters: dict[str, ConnectorMeter] = {}
        self.connector_startups = Startups()
        self.task_startups = Startups()

    def of(self, name: str) -> ConnectorMeter:
        """The meter of a connector."""
        with self._lock:
            found = self._meters.get(name)
            if found is None:
                found = self._meters[name] = ConnectorMeter(self._clock)
            return found

    def note_state(self, worker_id: str, name: str, task: int, status: Status | None) -> None:
        """A task's new status. Only time on this worker, ``worker_id``, is counted."""
        own = status is not None and status.worker_id == worker_id
        with self._lock:
            known = name in self._meters
        if own or known:
            self.of(name).task(task).states.note(status.state if status and own else None)

    def prune(self, names: Callable[[], Collection[str]]) -> None:
        """Forget connectors that ``names``, called after we have looked, no longer returns."""
        with self._lock:
            before = list(self._meters)
        known = set(names())
        with self._lock:
            for name in before:
                if name not in known:
                    self._meters.pop(name, None)
