"""Doubts about positions: each is settled only by a verification that began after it."""

from __future__ import annotations

import threading


class Doubts:
    """Begins with ``count`` of them. Thread-safe."""

    def __init__(self, count: int) -> None:
        self._lock = threading.Lock()
        self.count = count
        self._settled = 0

    @property
    def any(self) -> bool:
        """Whether positions have to be verified."""
        return self.count != self._settled

    def add(self) -> None:
        """Something has happened after which positions may be others."""
        with self._lock:
            self.count += 1

    def settle(self, count: int) -> None:
        """Positions were verified; ``count`` is what it was when that began."""
        self._settled = count
