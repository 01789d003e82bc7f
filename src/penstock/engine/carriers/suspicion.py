"""Finds the task that crashes carriers: its tasks are split until one crashes alone.

After a crash each half of the tasks continues apart from the other, if there are slots for it. A
half that crashes is split again, one that keeps running is cleared. Where suspects share a carrier
with tasks that are not suspected, only the suspects are blamed for a crash. A task that has been
the only suspect of two crashes is guilty; once may be the machine's fault. A loss of an executor
or of Spark, or a kill of our own, says nothing about any task and is not passed to this class.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

ALONE_TWICE = 2


@dataclass(frozen=True)
class Suspect:
    """Why a task is under suspicion."""

    group: str
    """Shared with those it may have crashed a carrier together with."""
    crashes: int
    """How many in a row it may have caused."""
    alone: int = 0
    """How many of them no other task can have caused."""


class Suspicion:
    """Tasks are known by their keys. Not thread-safe."""

    def __init__(self) -> None:
        self._suspects: dict[str, Suspect] = {}

    def died(self, tasks: Sequence[str]) -> list[str]:
        """A carrier crashed that ran these tasks; returns those that are guilty of it."""
        blamed = [task for task in tasks if task in self._suspects] or list(tasks)
        middle = (len(blamed) + 1) // 2
        for half in (blamed[:middle], blamed[middle:]):
            group = uuid.uuid4().hex
            for task in half:
                self._suspects[task] = self._worse(task, group, alone=len(blamed) == 1)
        guilty = [task for task in blamed if self._suspects[task].alone >= ALONE_TWICE]
        for task in guilty:
            self.cleared(task)
        return guilty

    def _worse(self, task: str, group: str, *, alone: bool) -> Suspect:
        before = self._suspects.get(task, Suspect(group, 0))
        return Suspect(group, before.crashes + 1, before.alone + alone)

    def group(self, task: str) -> str | None:
        """The group that a task may share a carrier with; None if it is not suspected."""
        suspect = self._suspects.get(task)
        return None if suspect is None else suspect.group

    def repeated(self, task: str) -> bool:
        """Whether it may have caused more than one crash in a row."""
        suspect = self._suspects.get(task)
        return suspect is not None and suspect.crashes > 1

    def cleared(self, task: str) -> None:
        """The task has run long enough, or has failed: it is no longer suspected."""
        self._suspects.pop(task, None)
