"""Leases that were given up although their process may live on for some seconds.

They can no longer commit, once they are fenced, but a sink's task may still write to its target.
So the next lease of the task waits until the old one has ended, or its process has.
"""

from __future__ import annotations

from typing import Protocol


class Mortal(Protocol):
    """A carrier."""

    @property
    def dead(self) -> bool:
        """Whether its process has ended, or must have by now."""
        ...


class Ghosts:
    """Not thread-safe."""

    def __init__(self) -> None:
        self._ghosts: dict[str, tuple[str, Mortal]] = {}

    def __contains__(self, lease: str) -> bool:
        """Whether the lease was given up, and is not known to have ended."""
        return lease in self._ghosts

    def add(self, lease: str, task: str, carrier: Mortal) -> None:
        """A lease of ``task`` was given up, and may still run in ``carrier``."""
        self._ghosts[lease] = task, carrier

    def ended(self, lease: str) -> None:
        """The lease is known to have ended."""
        self._ghosts.pop(lease, None)

    def haunt(self, task: str) -> bool:
        """Whether a lease of the task that was given up may still run."""
        for lease in [lease for lease, (_, carrier) in self._ghosts.items() if carrier.dead]:
            del self._ghosts[lease]
        return any(task == each for each, _ in self._ghosts.values())
