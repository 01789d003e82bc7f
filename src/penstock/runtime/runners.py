"""The runners of this worker."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from penstock.runtime.runner import Runner

HALTED_AT_ONCE = 32


class Runners:
    """Who runs here, by the name of the connector. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runners: dict[str, Runner] = {}
        self._stopped = False

    def runner(self, name: str) -> Runner | None:
        """What runs a connector here, if anything does."""
        return self._runners.get(name)

    def names(self) -> list[str]:
        """The connectors that run here."""
        with self._lock:
            return list(self._runners)

    def put(self, name: str, runner: Runner) -> bool:
        """Take charge of ``runner``; False if this worker is going down."""
        with self._lock:
            if not self._stopped:
                self._runners[name] = runner
            return not self._stopped

    def take(self, name: str) -> Runner | None:
        """Give up charge of a connector's runner."""
        with self._lock:
            return self._runners.pop(name, None)

    def doubt(self, name: str | None = None) -> None:
        """Let a runner, or all of them, make sure of their positions before they go on."""
        with self._lock:
            found = [self._runners.get(name)] if name else list(self._runners.values())
        for runner in found:
            if runner is not None:
                runner.unsure = True

    def stop(self) -> None:
        """Halt everything, all at once, and take charge of nothing more."""
        with self._lock:
            self._stopped = True
            runners, self._runners = list(self._runners.values()), {}
        if runners:
            with ThreadPoolExecutor(min(HALTED_AT_ONCE, len(runners))) as pool:
                list(pool.map(Runner.halt, runners))
