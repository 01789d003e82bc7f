"""How fast records are made, and how many."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from penstock.plugins.datagen.datagen_config import DATAGEN_CONFIG, ITERATIONS, MAX_INTERVAL
from penstock.plugins.datagen.draws import Draws

UNLIMITED: Final = 2**62
_GAPS: Final = Draws(0, "gaps")


@dataclass(frozen=True)
class Pacing:
    """The limits of one task. ``seconds`` is the longest gap; 0: no gaps."""

    seconds: float
    most: int

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Pacing:
        """As a configuration asks."""
        interval = DATAGEN_CONFIG[MAX_INTERVAL].read(config)
        iterations = DATAGEN_CONFIG[ITERATIONS].read(config)
        return cls(max(0, interval) / 1000, iterations if iterations > 0 else UNLIMITED)

    def left(self, iteration: int) -> int:
        """How many records are still to be made."""
        return max(0, self.most - iteration)

    def gap(self, iteration: int) -> float:
        """The seconds between the record before ``iteration`` and that one."""
        number = np.array([iteration], dtype=np.uint64)
        return float(_GAPS.fractions(number)[0]) * self.seconds


class Clock:
    """Says how many records are due. The first one is due at once."""

    def __init__(self, pacing: Pacing, iteration: int) -> None:
        self._pacing, self._next = pacing, iteration
        self._due_at = time.monotonic()

    def take(self, most: int) -> int:
        """How many may be made now, at most ``most``; they count as made."""
        most = min(most, self._pacing.left(self._next))
        if not self._pacing.seconds:
            self._next += most
            return most
        return self._take_due(most)

    def _take_due(self, most: int) -> int:
        taken, now = 0, time.monotonic()
        while taken < most and self._due_at <= now:
            taken += 1
            self._next += 1
            self._due_at += self._pacing.gap(self._next)
        return taken
