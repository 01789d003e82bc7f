"""Which offsets were altered: the only repetitions that are allowed."""

from __future__ import annotations

import threading

from chaos.checker import Jump


class Alterations:
    """By connector and partition, in order. Thread-safe."""

    def __init__(self) -> None:
        self._jumps: dict[tuple[str, str], list[Jump]] = {}
        self._lock = threading.Lock()

    def add(self, connector: str, partition: str, jump: Jump) -> None:
        """An offset was altered, for certain."""
        with self._lock:
            self._jumps.setdefault((connector, partition), []).append(jump)

    def of(self, connector: str, partition: str) -> list[Jump]:
        """What was altered of this partition."""
        with self._lock:
            return list(self._jumps.get((connector, partition), ()))
