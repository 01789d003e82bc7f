"""Who is due when: a heap of times with at most one valid entry each. Not thread-safe."""

from __future__ import annotations

import heapq
import math
from typing import Generic, TypeVar

GRID = 0.05
"""Seconds: times further off are rounded up to this, so that a thousand of them are met with
twenty awakenings a second, not with a thousand."""

T = TypeVar("T")


class Timetable(Generic[T]):
    """Each entry is due once, at the earliest time it was entered for."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, T]] = []
        self._due: dict[int, float] = {}
        self._count = 0

    def enter(self, entry: T, now: float, delay: float) -> bool:
        """Make ``entry`` due ``delay`` seconds from now; False if it is due sooner already."""
        due = now + delay
        if delay > 2 * GRID:
            due = math.ceil(due / GRID) * GRID
        planned = self._due.get(id(entry))
        if planned is not None and planned <= due:
            return False
        self._due[id(entry)] = due
        self._count += 1
        heapq.heappush(self._heap, (due, self._count, entry))
        return True

    def strike(self, entry: T) -> None:
        """Let ``entry`` not be due."""
        self._due.pop(id(entry), None)

    def take(self, now: float) -> T | None:
        """The entry that has been due longest, and no more is; None if none is due."""
        if not self._is_due(now):
            return None
        _, _, entry = heapq.heappop(self._heap)
        del self._due[id(entry)]
        return entry

    def pause(self, now: float) -> float | None:
        """Seconds until something is due; None if nothing ever is."""
        self._drop_invalid()
        return max(0.0, self._heap[0][0] - now) if self._heap else None

    def _is_due(self, now: float) -> bool:
        self._drop_invalid()
        return bool(self._heap) and self._heap[0][0] <= now

    def _drop_invalid(self) -> None:
        while self._heap and self._due.get(id(self._heap[0][2])) != self._heap[0][0]:
            heapq.heappop(self._heap)
