"""How often connectors or tasks were started on this worker, and how often that worked."""

from __future__ import annotations

import threading


class Startups:
    """Counts since the worker's process started, deleted connectors included. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.attempts = 0
        self.successes = 0
        self.failures = 0

    def begin(self) -> Startup:
        """Something is being started."""
        with self._lock:
            self.attempts += 1
        return Startup(self)

    def count(self, *, success: bool) -> None:
        """One of the attempts has ended."""
        with self._lock:
            if success:
                self.successes += 1
            else:
                self.failures += 1


class Startup:
    """One attempt. The first outcome counts: what fails later had been started."""

    def __init__(self, startups: Startups | None = None) -> None:
        self._startups = startups

    def succeeded(self) -> None:
        """It runs."""
        self._decide(success=True)

    def failed(self) -> None:
        """It failed to start."""
        self._decide(success=False)

    def _decide(self, *, success: bool) -> None:
        startups, self._startups = self._startups, None
        if startups is not None:
            startups.count(success=success)
