"""Failures in a row: how many, since when, how long to wait, and when to report them.

A single failure is retried and not reported. In a row of failures each further attempt comes later,
up to a limit, and the row is reported now and then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]

LONGEST_PAUSE = 10.0
TOLD_COUNT = 3
TOLD_SECONDS = 10.0
"""A row is reported once it has this many failures, or has lasted this long."""
FIRST_SILENCE, LONGEST_SILENCE = 60.0, 300.0
"""Seconds from one report of a row to the next."""


class Streak:
    """Failures since the last success. One thread changes it; others may read numbers.

    There is no pause after the first ``free`` of them; then ``first_pause`` seconds, doubled each
    time.
    """

    def __init__(
        self,
        first_pause: float,
        free: int = 0,
        clock: Clock = time.monotonic,
        wall: Clock = time.time,
    ) -> None:
        self._first_pause = first_pause
        self._free = free
        self._clock = clock
        self._wall = wall
        self._began = self._last = 0.0
        self._since = datetime.fromtimestamp(0, UTC)
        self.clear()

    def clear(self) -> None:
        """A success."""
        self.count = 0
        self.told = False
        """Whether ``worth_telling`` was true since the last success."""
        self._silence = FIRST_SILENCE
        self._told_at = 0.0

    def add(self) -> None:
        """Another failure."""
        self._last = self._clock()
        if self.count == 0:
            self._began = self._last
            self._since = datetime.fromtimestamp(self._wall(), UTC)
        self.count += 1

    @property
    def since(self) -> str:
        """When the first of them was, as text."""
        return f"{self._since:%Y-%m-%d %H:%M:%S} UTC"

    @property
    def seconds(self) -> float:
        """How long ago the first of them was; 0 if there is none."""
        return self._clock() - self._began if self.count else 0.0

    @property
    def pause(self) -> float:
        """Seconds from the last of them to the next attempt."""
        if self.count <= self._free:
            return 0.0
        doublings = min(self.count - self._free - 1, 30)
        return min(self._first_pause * (1 << doublings), LONGEST_PAUSE)

    @property
    def pause_left(self) -> float:
        """Seconds from now to the next attempt."""
        return max(0.0, self._last + self.pause - self._clock()) if self.count else 0.0

    def worth_telling(self) -> bool:
        """Whether to report the row now: after a while, then less often."""
        now = self._clock()
        if not self.told:
            if self.count < TOLD_COUNT and (self.count == 0 or self.seconds < TOLD_SECONDS):
                return False
        elif now - self._told_at < self._silence:
            return False
        else:
            self._silence = LONGEST_SILENCE
        self.told, self._told_at = True, now
        return True
