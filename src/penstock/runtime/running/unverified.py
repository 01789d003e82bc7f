"""Whose positions have to be verified before a lease may begin from them (rule 1)."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class Doubts:
    """Begins with ``count`` of them. Each is settled only by what began after it. Thread-safe."""

    def __init__(self, count: int) -> None:
        self._lock = threading.Lock()
        self.count = count
        self._settled = 0

    @property
    def any(self) -> bool:
        """Whether there are doubts that are not settled."""
        return self.count != self._settled

    def add(self) -> None:
        """Something has happened after which positions may be others."""
        with self._lock:
            self.count += 1

    def settle(self, count: int) -> None:
        """Positions were verified; ``count`` is what it was when that began."""
        self._settled = count


class Unverified:
    """The positions of one connector: all are unverified at first.

    ``doubt`` and ``renew`` may come from any thread, all else from the one that looks and turns.
    """

    def __init__(self) -> None:
        self._doubts = Doubts(1)
        self._generations = Doubts(0)
        self._tasks: set[int] = set()
        """Tasks whose last lease was lost: what it has committed is to be read."""

    def doubt(self) -> None:
        """Positions of any task may be others."""
        self._doubts.add()

    def renew(self) -> None:
        """The group has a new generation: each task is to be verified before its next lease."""
        self._generations.add()

    def lose(self, task: int) -> None:
        """A lease of the task did not end well."""
        self._tasks.add(task)

    @property
    def all(self) -> bool:
        """Whether the whole connector has to be verified, while no lease runs."""
        return self._doubts.any

    def some(self, running: Collection[int]) -> bool:
        """Whether any task that is not ``running`` has to be verified by itself."""
        return self._generations.any or bool(self._tasks.difference(running))

    def tasks(self) -> frozenset[int]:
        """The tasks that have to be verified by themselves."""
        return frozenset(self._tasks)

    def spread(self, tasks: int) -> None:
        """Of a new generation, to each of so many tasks."""
        if self._generations.any:
            count = self._generations.count
            self._tasks.update(range(tasks))
            self._generations.settle(count)

    @contextmanager
    def verifying(self) -> Iterator[None]:
        """All positions; a doubt that is raised meanwhile stays, and so do all after an error."""
        count = self._doubts.count
        yield
        self._tasks.clear()
        self._doubts.settle(count)

    def verified(self, tasks: Collection[int]) -> None:
        """The positions of these tasks have been read, after fencing."""
        self._tasks.difference_update(tasks)
