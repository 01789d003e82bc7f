"""Finds the task that crashes carriers: its tasks are split until one crashes alone.

After a crash each half of the tasks continues in a separate carrier, apart from all others. A half
that crashes is split again, one that keeps running is cleared. A task that has crashed alone twice
is guilty; once may be the machine's fault. A loss of an executor or of Spark, or a kill of our own,
says nothing about any task and is not passed to this class.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

ALONE_TWICE = 2


class Suspicion:
    """Tasks are known by their keys. Not thread-safe."""

    def __init__(self) -> None:
        self._groups: dict[str, str] = {}
        self._deaths_alone: dict[str, int] = {}

    def died(self, tasks: Sequence[str]) -> list[str]:
        """A carrier crashed that ran these tasks; returns those that are guilty of it."""
        if len(tasks) == 1:
            return self._died_alone(tasks[0])
        middle = (len(tasks) + 1) // 2
        for half in (tasks[:middle], tasks[middle:]):
            group = uuid.uuid4().hex
            self._groups.update(dict.fromkeys(half, group))
        return []

    def _died_alone(self, task: str) -> list[str]:
        deaths = self._deaths_alone.get(task, 0) + 1
        if deaths >= ALONE_TWICE:
            self.cleared(task)
            return [task]
        self._deaths_alone[task] = deaths
        self._groups[task] = uuid.uuid4().hex
        return []

    def group(self, task: str) -> str | None:
        """The group that a task shares a carrier with, exclusively; None if it is not suspected."""
        return self._groups.get(task)

    def cleared(self, task: str) -> None:
        """The task has run long enough, or has failed: it is no longer suspected."""
        self._groups.pop(task, None)
        self._deaths_alone.pop(task, None)
