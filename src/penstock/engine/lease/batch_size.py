"""How many records a sink lease reads at once: what its task can put in a fraction of a second."""

from __future__ import annotations

MOST_RECORDS = 20_000
FEWEST_RECORDS = 100
SHORT, LONG = 0.25, 0.5
"""Seconds within which a batch should be put: *finish* is checked only between batches.

Whatever takes less than the first may be doubled, since a target may take as long for a few records
as for many."""


class BatchSize:
    """Begins small."""

    def __init__(self, limit: int) -> None:
        self._limit = max(1, min(limit, MOST_RECORDS))
        self.most = min(FEWEST_RECORDS, self._limit)

    def learn(self, rows: int, seconds: float, *, crowded: bool) -> None:
        """A batch of ``rows`` took so long; ``crowded`` if it has left too many dead letters."""
        if seconds > LONG or crowded:
            self.most = max(1, self.most // 2)
        elif seconds < SHORT and rows * 2 > self.most:
            factor = 4 if seconds < SHORT / 4 else 2
            self.most = min(self._limit, self.most * factor)
