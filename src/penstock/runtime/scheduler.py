"""When each connector gets its turn: one timer heap and two small pools for all of them.

A connector is looked at on the pool of looks, which never waits for a turn; when the look finds
work, the turn runs on the pool of turns. At most one of the two runs for a connector at any time.
While turns wait for a thread or a slot, the running ones are told that it is crowded: they then
end as soon as they are dry, and after a few seconds at the latest.
"""

from __future__ import annotations

import contextlib
import heapq
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from penstock.engine.turns import Turn

log = logging.getLogger(__name__)

LOOK_THREADS = 4
TICK = 0.2


@dataclass(frozen=True)
class Next:
    """What comes next for a connector: a turn now, a look after ``delay``, or rest until woken."""

    turn: bool = False
    delay: float | None = None


TURN = Next(turn=True)
REST = Next()


class Runnable(Protocol):
    """What the scheduler runs."""

    name: str

    def look(self) -> Next:
        """Whether there is work; quick."""
        ...

    def turn(self) -> Next:
        """Do the work; may take a minute."""
        ...


class Scheduler:
    """Gives looks and turns to runners. Thread-safe."""

    def __init__(self, slots: int, grace_seconds: float) -> None:
        self._slots = slots
        self._grace_seconds = grace_seconds
        self._looks = ThreadPoolExecutor(LOOK_THREADS, thread_name_prefix="look")
        self._turns = ThreadPoolExecutor(slots, thread_name_prefix="turn")
        self._changed = threading.Condition()
        self._heap: list[tuple[float, int, Runnable]] = []
        self._due: dict[int, float] = {}
        self._busy: set[int] = set()
        self._woken: set[int] = set()
        self._gone: set[int] = set()
        self._count = 0
        self._waiting = 0
        self._active: set[Turn] = set()
        self._stopping = False
        self._threads = [
            threading.Thread(target=self._run_timer, name="timer", daemon=True),
            threading.Thread(target=self._run_monitor, name="turn-monitor", daemon=True),
        ]

    def start(self) -> None:
        """Begin to serve."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Serve no more; what runs is left to whoever started it."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._looks.shutdown(wait=False, cancel_futures=True)
        self._turns.shutdown(wait=False, cancel_futures=True)

    def wake(self, runner: Runnable, delay: float = 0.0) -> None:
        """Look at ``runner`` after ``delay`` seconds, or sooner if that was planned."""
        key = id(runner)
        with self._changed:
            if key in self._busy:
                if delay == 0.0:
                    self._woken.add(key)
                return
            self._push(runner, delay)

    def forget(self, runner: Runnable) -> None:
        """Give ``runner`` no more turns."""
        with self._changed:
            self._due.pop(id(runner), None)
            if id(runner) in self._busy:
                self._gone.add(id(runner))

    @contextlib.contextmanager
    def running(self, turn: Turn) -> Iterator[None]:
        """Watch over ``turn`` for the length of a ``with`` block."""
        with self._changed:
            self._active.add(turn)
        try:
            yield
        finally:
            with self._changed:
                self._active.discard(turn)

    def _push(self, runner: Runnable, delay: float) -> None:
        due = time.monotonic() + delay
        planned = self._due.get(id(runner))
        if planned is not None and planned <= due:
            return
        self._due[id(runner)] = due
        self._count += 1
        heapq.heappush(self._heap, (due, self._count, runner))
        self._changed.notify_all()

    def _run_timer(self) -> None:
        while True:
            with self._changed:
                if self._stopping:
                    return
                runner = self._pop_due()
                if runner is None:
                    self._changed.wait(self._pause())
                    continue
                self._busy.add(id(runner))
                # Within the lock: ``stop`` cannot end the pool in between.
                self._looks.submit(self._step, runner)

    def _pause(self) -> float | None:
        return max(0.0, self._heap[0][0] - time.monotonic()) if self._heap else None

    def _pop_due(self) -> Runnable | None:
        while self._heap and self._heap[0][0] <= time.monotonic():
            due, _, runner = heapq.heappop(self._heap)
            if self._due.get(id(runner)) == due:
                del self._due[id(runner)]
                return runner
        return None

    def _step(self, runner: Runnable) -> None:
        outcome = _guarded(runner.look, runner)
        if outcome.turn and not self._stopping:
            with self._changed:
                self._waiting += 1
            self._turns.submit(self._take_turn, runner)
        else:
            self._done(runner, outcome)

    def _take_turn(self, runner: Runnable) -> None:
        with self._changed:
            self._waiting -= 1
        self._done(runner, _guarded(runner.turn, runner))

    def _done(self, runner: Runnable, outcome: Next) -> None:
        key = id(runner)
        with self._changed:
            self._busy.discard(key)
            woken = key in self._woken
            self._woken.discard(key)
            if key in self._gone:
                self._gone.discard(key)
                return
            if woken:
                self._push(runner, 0.0)
            elif outcome.delay is not None:
                self._push(runner, outcome.delay)

    def _run_monitor(self) -> None:
        while not self._stopping:
            with self._changed:
                active = list(self._active)
                wanted = sum(len(turn.leases) for turn in active)
                crowded = self._waiting > 0 or wanted > self._slots
            for turn in active:
                turn.watch.crowded = crowded
                if turn.watch.age > turn.watch.limits.lease_seconds + self._grace_seconds:
                    turn.cancel("expired")
            time.sleep(TICK)


def _guarded(step: Callable[[], Next], runner: Runnable) -> Next:
    """A defect in one connector's loop must not end it, nor anybody else's."""
    try:
        return step()
    except Exception:
        log.exception("connector %s: its loop stumbled; trying again", runner.name)
        return Next(delay=1.0)
