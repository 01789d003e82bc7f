"""The runners of this worker."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from penstock.runtime.running.runner import Runner

HALTED_AT_ONCE = 32


class Runners:
    """The runners of this worker by connector name. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runners: dict[str, Runner] = {}
        self._stopped = False

    def runner(self, name: str) -> Runner | None:
        """The runner of a connector here, if there is one."""
        return self._runners.get(name)

    def __len__(self) -> int:
        return len(self._runners)

    def names(self) -> list[str]:
        """The connectors that run here."""
        with self._lock:
            return list(self._runners)

    def put(self, name: str, runner: Runner) -> bool:
        """Add ``runner``; False if this worker is shutting down."""
        with self._lock:
            if not self._stopped:
                self._runners[name] = runner
            return not self._stopped

    def take(self, name: str) -> Runner | None:
        """Remove a connector's runner."""
        with self._lock:
            return self._runners.pop(name, None)

    def doubt(self, name: str | None = None) -> None:
        """Make a runner, or all of them, verify their positions before they continue."""
        with self._lock:
            found = [self._runners.get(name)] if name else list(self._runners.values())
        for runner in found:
            if runner is not None:
                runner.doubt()

    def renew(self) -> None:
        """The workers' group has a new generation."""
        with self._lock:
            found = list(self._runners.values())
        for runner in found:
            runner.renew()

    def stop(self) -> None:
        """Halt all runners at the same time, and add no more."""
        with self._lock:
            self._stopped = True
            runners, self._runners = list(self._runners.values()), {}
        if runners:
            with ThreadPoolExecutor(min(HALTED_AT_ONCE, len(runners))) as pool:
                list(pool.map(Runner.halt, runners))
