"""How long a producer waits for the brokers: as long as they keep accepting records.

librdkafka continues a call that has timed out, and calling it again resumes it. So calls are made
in short slices, and between them progress and cancellation are checked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

SLICE = 0.5
"""Seconds of one call: cancellation is noticed within this time."""
STALLED_SECONDS = 10.0


@dataclass(frozen=True)
class Patience:
    """The patience of one producer."""

    stalled_seconds: float = STALLED_SECONDS
    """How long the brokers may accept nothing at all."""
    given_up: Callable[[], bool] = lambda: False
    """Whether the caller has given up."""
    on_wait: Callable[[], None] = lambda: None
    """Called repeatedly while waiting is worthwhile: a sign of life."""


class Waiting:
    """One wait, starting now; ``left`` is how many records the brokers have yet to accept."""

    def __init__(self, patience: Patience, left: int, until: float) -> None:
        self._patience = patience
        self._left = left
        self._until = until
        self._moved = time.monotonic()

    def worthwhile(self, left: int) -> bool:
        """Whether to keep waiting, with this many records left."""
        now = time.monotonic()
        if left < self._left:
            self._moved = now
        self._left = left
        stalled = now - self._moved > self._patience.stalled_seconds
        if stalled or now > self._until or self._patience.given_up():
            return False
        self._patience.on_wait()
        return True
