"""When each connector runs: one timetable and two small thread pools for all of them.

A look thread, which never waits for a turn, checks a connector for work; if there is some, the turn
runs on the pool of turn threads. At most one of the two runs for a connector at any time. One look
thread is the leader: it alone waits for the timetable and does the looks itself, since a look costs
much less than waking a thread. If its looks are slow, another thread becomes the leader.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from penstock.logs.subject import about
from penstock.runtime.callbacks import Callbacks
from penstock.runtime.running.timetable import Timetable

log = logging.getLogger(__name__)

LOOK_THREADS = 4
TURN_THREADS = 16
MOST_LOOK_THREADS = 128
TICK = 0.2
LONG_BURST = 0.02
"""After this many seconds of looks without a pause, waking another thread is worth it."""


class Next(NamedTuple):
    """What comes next for a connector: a turn now, a look after ``delay``, or wait until woken."""

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
        """Do the work: it may have to wait for Kafka."""
        ...


class Scheduler:
    """Schedules the looks and turns of runners. Thread-safe."""

    def __init__(self, turn_threads: int = TURN_THREADS) -> None:
        self.callbacks = Callbacks()
        self._turns = ThreadPoolExecutor(turn_threads, thread_name_prefix="turn")
        lock = threading.RLock()
        self._changed = threading.Condition(lock)
        self._no_leader = threading.Condition(lock)
        self._leader: int | None = None
        self._burst_began: float | None = None
        self._look_began: float | None = None
        self._timetable: Timetable[Runnable] = Timetable()
        self._busy: set[int] = set()
        self._woken: set[int] = set()
        self._gone: set[int] = set()
        self._stopping = False
        self._lookers = [self._look_thread(number) for number in range(LOOK_THREADS)]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._lookers:
            thread.start()
        threading.Thread(target=self._run_monitor, name="look-monitor", daemon=True).start()

    def stop(self) -> None:
        """Stop the threads."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            self._no_leader.notify_all()
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
        """Stop scheduling ``runner``."""
        with self._changed:
            self._timetable.strike(runner)
            if id(runner) in self._busy:
                self._gone.add(id(runner))

    def _push(self, runner: Runnable, delay: float) -> None:
        if self._timetable.enter(runner, time.monotonic(), delay):
            self._changed.notify()

    def _run_looks(self) -> None:
        done: tuple[Runnable, Next] | None = None
        while (runner := self._next_look(done)) is not None:
            done = runner, _guarded(runner.look, runner)

    def _look_thread(self, number: int) -> threading.Thread:
        return threading.Thread(target=self._run_looks, name=f"look-{number}", daemon=True)

    def _replace_stuck(self, unled: bool) -> bool:
        """Whether there is no leader; if there was none a while ago either, every thread is in a
        look that does not end, and another is needed."""
        if unled and self._leader is None and len(self._lookers) < MOST_LOOK_THREADS:
            self._lookers.append(thread := self._look_thread(len(self._lookers)))
            thread.start()
        return self._leader is None

    def _next_look(self, done: tuple[Runnable, Next] | None) -> Runnable | None:
        """After a look, wait to become the leader, then for a due connector; None at the end."""
        me = threading.get_ident()
        with self._changed:
            if done is not None:
                self._looked(*done)
            while not self._stopping:
                self._leader = self._leader or me
                if self._leader != me:
                    self._no_leader.wait()
                elif (runner := self._timetable.take(now := time.monotonic())) is not None:
                    self._begin_look(runner, now)
                    return runner
                else:
                    self._rest()
        return None

    def _begin_look(self, runner: Runnable, now: float) -> None:
        self._busy.add(id(runner))
        self._look_began = now
        self._burst_began = self._burst_began or now
        if now - self._burst_began > LONG_BURST and self._timetable.pause(now) == 0.0:
            self._hand_over()

    def _rest(self) -> None:
        self._burst_began = self._look_began = None
        self._changed.wait(self._timetable.pause(time.monotonic()))

    def _hand_over(self) -> None:
        """Let another thread become the leader; this one follows when its look is done."""
        self._leader = self._burst_began = self._look_began = None
        self._no_leader.notify()

    def _looked(self, runner: Runnable, outcome: Next) -> None:
        if not outcome.turn:
            self._done(runner, outcome.delay)
        elif not self._stopping:
            self._turns.submit(self._take_turn, runner)

    def _take_turn(self, runner: Runnable) -> None:
        outcome = _guarded(runner.turn, runner)
        with self._changed:
            self._done(runner, outcome.delay)

    def _done(self, runner: Runnable, delay: float | None) -> None:
        key = id(runner)
        self._busy.discard(key)
        if key in self._woken:
            self._woken.discard(key)
            delay = 0.0
        if key in self._gone:
            self._gone.discard(key)
        elif delay is not None:
            self._push(runner, delay)

    def _run_monitor(self) -> None:
        unled = False
        while not self._stopping:
            try:
                self.callbacks.give_up_overdue()
            except Exception:
                log.exception("a call that does not return could not be given up")
            with self._changed:
                unled = self._replace_stuck(unled)
                if self._look_began and time.monotonic() - self._look_began > TICK:
                    self._hand_over()
            time.sleep(TICK)


def _guarded(step: Callable[[], Next], runner: Runnable) -> Next:
    """A defect in one connector's loop must not end that loop, nor any other."""
    with about(runner.name):
        try:
            return step()
        except BaseException:  # SystemExit too: it would end one of our threads without a word
            log.exception("an unexpected error in the connector's loop; trying again")
            return Next(delay=1.0)
