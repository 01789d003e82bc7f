"""Leases lost in a row, task by task.

A single lost lease is part of the protocol: a rebalance causes it, and its task continues
immediately. Only progress, that is a commit or a lease that ended well, ends a row of losses.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from penstock.runtime.meters.loss_reasons import Reason, advice
from penstock.runtime.meters.streaks import LONGEST_PAUSE, Clock, Streak

FIRST_PAUSE = 0.1
FREE = 1


class Losses:
    """The losses of one connector's tasks, as long as its runner lives. Thread-safe."""

    def __init__(self, clock: Clock = time.monotonic, wall: Clock = time.time) -> None:
        self._clock = clock
        self._wall = wall
        self._lock = threading.Lock()
        self._rows: dict[int, Streak] = {}
        self._last: dict[int, tuple[Reason, str]] = {}

    def lost(self, task: int, reason: Reason, detail: str = "") -> bool:
        """A lease of the task was lost; returns whether to report the row of losses now."""
        with self._lock:
            row = self._rows.setdefault(task, self._new())
            row.add()
            self._last[task] = reason, detail
            return row.worth_telling()

    def progressed(self, task: int) -> bool:
        """The task has committed something, or has nothing to do.

        Returns whether that ends a row of losses that was reported.
        """
        with self._lock:
            row = self._rows.pop(task, None)
            return row is not None and row.told

    def tasks(self) -> list[int]:
        """The tasks with losses since their last progress."""
        with self._lock:
            return list(self._rows)

    def clear(self) -> None:
        """Forget all rows."""
        with self._lock:
            self._rows.clear()

    def in_a_row(self, task: int) -> int:
        """How many leases were lost since the last progress."""
        with self._lock:
            return self._rows[task].count if task in self._rows else 0

    def seconds(self, task: int) -> float:
        """How long the row of losses has lasted; 0 without one."""
        with self._lock:
            return self._rows[task].seconds if task in self._rows else 0.0

    def due(self, tasks: Iterable[int]) -> list[int]:
        """The tasks whose pause is over."""
        with self._lock:
            return [task for task in tasks if not self._left(task)]

    def pause(self, tasks: Iterable[int]) -> float:
        """Seconds until the first of the tasks that have to wait may run again; 0 if none has."""
        with self._lock:
            return min((left for task in tasks if (left := self._left(task))), default=0.0)

    def story(self, task: int) -> str | None:
        """What is wrong with the task, and what to do; None if nothing is."""
        with self._lock:
            row = self._rows.get(task)
            if row is None:
                return None
            reason, detail = self._last[task]
            cause = f"{reason} ({detail})" if detail else str(reason)
            return (
                f"No progress since {row.since}: the last {row.count} leases of this task were "
                f"lost, the last one: {cause}. {advice(reason)} The task is retried "
                f"automatically, with pauses of up to {LONGEST_PAUSE:.0f} s."
            )

    def _left(self, task: int) -> float:
        row = self._rows.get(task)
        return row.pause_left if row is not None else 0.0

    def _new(self) -> Streak:
        return Streak(FIRST_PAUSE, FREE, self._clock, self._wall)
