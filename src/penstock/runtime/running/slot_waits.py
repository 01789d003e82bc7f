"""Connectors that wait for a free slot: reported if it lasts, then less and less often."""

from __future__ import annotations

import time
from typing import Protocol

from penstock.runtime.meters.streaks import LONGEST_SILENCE, Clock

FIRST_WORD = 30.0


class Named(Protocol):
    """Who waits."""

    name: str


class SlotWaits:
    """The waiting connectors, and since when. Not thread-safe."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[int, tuple[str, float]] = {}
        self._next_word: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._since)

    def enter(self, runner: Named) -> None:
        """The connector waits from now on."""
        self._since[id(runner)] = runner.name, self._clock()
        self._next_word[id(runner)] = FIRST_WORD

    def leave(self, runner: Named) -> None:
        """The connector has got its slot."""
        self._since.pop(id(runner), None)
        self._next_word.pop(id(runner), None)

    def overdue(self) -> list[tuple[str, float]]:
        """The connectors to report now, and how many seconds they have waited."""
        now, due = self._clock(), []
        for key, (name, since) in self._since.items():
            waited = now - since
            if waited >= self._next_word[key]:
                self._next_word[key] = waited + min(waited, LONGEST_SILENCE)
                due.append((name, waited))
        return due
