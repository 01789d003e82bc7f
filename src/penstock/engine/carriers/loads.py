"""How busy each task keeps a core, from the CPU time its leases report."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

WINDOW_SECONDS = 5.0


@dataclass
class _Load:
    cores: float = 0.0
    cpu: float = 0.0
    at: float = 0.0
    heavy: bool = False


class Loads:
    """Loads by task. Not thread-safe."""

    def __init__(self) -> None:
        self._loads: dict[str, _Load] = {}

    def note(self, task: str, told: dict[str, Any]) -> None:
        """A lease has reported the CPU time it has used since it began."""
        cpu, now = float(told.get("cpu_seconds", 0.0)), time.monotonic()
        load = self._loads.setdefault(task, _Load(at=now, cpu=cpu))
        if cpu < load.cpu:  # another lease of the task
            load.cpu, load.at = cpu, now
        elif now - load.at >= WINDOW_SECONDS:
            load.cores = (cpu - load.cpu) / (now - load.at)
            load.cpu, load.at = cpu, now

    def of(self, task: str) -> float:
        """Cores that it has recently kept busy; 0 if unknown."""
        load = self._loads.get(task)
        return load.cores if load else 0.0

    def heavy(self, task: str) -> bool:
        """Whether it has been found too heavy to share a carrier."""
        load = self._loads.get(task)
        return load.heavy if load else False

    def weigh(self, task: str, *, heavy: bool) -> None:
        """Record that it is moved because it is too heavy to share, or light enough again."""
        load = self._loads.setdefault(task, _Load())
        load.heavy, load.cores = heavy, 0.0 if not heavy else load.cores

    def forget(self, task: str) -> None:
        """Forget the task."""
        self._loads.pop(task, None)
