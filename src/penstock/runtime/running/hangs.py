"""Tasks whose leases did not end in time: how often in a row."""

from __future__ import annotations

from dataclasses import replace

from penstock.engine.lease.lease import Lease

MOST_HANGS = 2
SUSPECT_SECONDS = 5.0
"""How long the next lease of a task that hung may last."""


class Hangs:
    """Not thread-safe."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def note(self, task: int) -> None:
        """A lease of the task did not end in time."""
        self._counts[task] = self._counts.get(task, 0) + 1

    def too_many(self, task: int) -> bool:
        """Whether the task has hung so often that it fails."""
        return self._counts.get(task, 0) >= MOST_HANGS

    def cleared(self, task: int) -> None:
        """A lease of the task ended in time, or the task has failed."""
        self._counts.pop(task, None)

    def limited(self, lease: Lease) -> Lease:
        """Shorter for a task that hung, so that it is soon known whether it does again."""
        if lease.task not in self._counts:
            return lease
        seconds = min(SUSPECT_SECONDS, lease.limits.lease_seconds)
        return replace(lease, limits=replace(lease.limits, lease_seconds=seconds))
