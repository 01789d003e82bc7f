"""The share of time a task has spent in each state since it was started on this worker."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable

from penstock.runtime.states import State


class StateTimes:
    """The times of one task. Thread-safe."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seconds: dict[State, float] = defaultdict(float)
        self._state: State | None = None
        self._since = 0.0

    def note(self, state: State | None) -> None:
        """The task is in this state from now on; None: it is no longer this worker's."""
        with self._lock:
            self._settle()
            self._state = state
            if state in (None, State.RESTARTING):
                self._seconds.clear()

    def ratio(self, state: State) -> float | None:
        """The share of its time; None while it has had none here."""
        with self._lock:
            self._settle()
            total = sum(self._seconds.values())
            return self._seconds[state] / total if total else None

    def _settle(self) -> None:
        now = self._clock()
        if self._state is not None:
            self._seconds[self._state] += now - self._since
        self._since = now
