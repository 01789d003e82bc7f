"""Tasks whose leases were lost, and whether they are to blame (rule 8).

A crash or a hang is no task's fault until it is known which one it is. Which of the tasks of a
carrier has crashed it, the fleet finds out; a task that hangs is known by its own leases.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.engine.lease.lease import Lease
from penstock.runtime.running.task_leases import Ended

MOST_HANGS = 2
SUSPECT_SECONDS = 5.0
"""How long the next lease of a task that hung may last."""


class Suspects:
    """Not thread-safe."""

    def __init__(self) -> None:
        self._hangs: dict[int, int] = {}

    def blame(self, ended: Ended) -> str | None:
        """A lease was lost: with which trace its task fails; None if it is not known to be the
        cause."""
        hung, task = ended.hung is not None, ended.task
        if hung:
            self._hangs[task] = self._hangs.get(task, 0) + 1
        if not ended.guilty and self._hangs.get(task, 0) < MOST_HANGS:
            return None
        self.cleared(task)
        return _hanging(ended) if hung else _crashing(ended)

    def cleared(self, task: int) -> None:
        """A lease of the task ended in time, or the task has failed."""
        self._hangs.pop(task, None)

    def limited(self, lease: Lease) -> Lease:
        """Shorter for a task that hung, so that it is soon known whether it does again."""
        if lease.task not in self._hangs:
            return lease
        seconds = min(SUSPECT_SECONDS, lease.limits.lease_seconds)
        return replace(lease, limits=replace(lease.limits, lease_seconds=seconds))


def _hanging(ended: Ended) -> str:
    return (
        f"FatalError: the task did not return within {ended.age:.0f} s and was "
        f"cancelled. It hangs here:\n{ended.hung}"
    )


def _crashing(ended: Ended) -> str:
    return (
        "FatalError: the task's process ended abruptly (os._exit, a signal or out of memory): "
        f"{ended.detail}"
    )
