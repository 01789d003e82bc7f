"""How long an idle connector is left alone between two looks."""

from __future__ import annotations

import time

FIRST_PAUSE = 0.05


class IdlePause:
    """Doubles while there is nothing to do. Not thread-safe."""

    def __init__(self) -> None:
        self._seconds = FIRST_PAUSE
        self._until = 0.0

    @property
    def left(self) -> float:
        """Seconds until the next look; zero or less if it is due."""
        return self._until - time.monotonic()

    def longer(self, most: float) -> float:
        """The next pause, up to ``most`` seconds."""
        self._seconds = min(self._seconds * 2, most)
        return self._seconds

    def begin(self, seconds: float) -> None:
        """Do not look for that many seconds."""
        self._until = time.monotonic() + seconds

    def end(self) -> None:
        """There is work: look at once, and begin with short pauses afterwards."""
        self._seconds = FIRST_PAUSE
        self._until = 0.0
