"""How large a transaction may be: as much as the link to Kafka can carry in half a second.

Half a second, so that a lease that is told to finish ends promptly: one commit may be in progress
then, and one more has to follow. The round trips of a commit to the brokers are left out: over a
long distance they take a second, however small the transaction is. They are what a commit takes
once the brokers have acknowledged its records.
"""

from __future__ import annotations

from dataclasses import dataclass

START = 256 * 1024
LEAST = 64 * 1024
"""If transactions hardly larger than this take long, their size is not the reason."""
TARGET = 0.5
SHORT, LONG = 0.25, 0.75
"""Target seconds for the records of a transaction: it grows below this, shrinks above."""
ROUNDS = 3
"""Round trips of a commit after its records, at the least; their acknowledgement is one more."""
STEEPEST = 8
"""An interruption looks like a slow link: shrink by at most this factor."""
CAUTION = 10.0
"""Seconds after which a slow link is assumed to be fast again. Brokers average their quotas over
about as long: after a pause they let a burst pass, and then much less."""


@dataclass
class Pace:
    """Learns from every commit. Passed from one lease of a task to the next."""

    most_bytes: int = START
    """The most bytes in one transaction."""
    round_seconds: float | None = None
    """The seconds that a commit takes after its records, as far as known."""
    cautious_seconds: float = 0.0
    """Until then transactions grow only slowly."""

    def learn(self, size: int, *, commit: float, rounds: float, whole: float) -> None:
        """A commit took this many seconds, ``rounds`` of them after its records were acknowledged.

        ``whole`` is the time of the entire transaction.
        """
        known = rounds if self.round_seconds is None else min(rounds, self.round_seconds)
        self.round_seconds = known
        self.cautious_seconds = max(0.0, self.cautious_seconds - whole)
        extra = commit - known - known / ROUNDS
        if extra < SHORT and size >= self.most_bytes // 2:
            self._grow(size)
        elif extra > LONG and size <= 2 * LEAST:
            self.round_seconds = min(commit, 2 * known)
        elif extra > LONG:
            self._shrink(size, whole)

    def fail(self, size: int, *, commit: float, whole: float) -> None:
        """A commit failed after this many seconds."""
        if commit - (self.round_seconds or 0.0) > LONG:
            self._shrink(size, whole)

    def _grow(self, size: int) -> None:
        if self.cautious_seconds:
            self.most_bytes += self.most_bytes // 8
        else:
            self.most_bytes = max(self.most_bytes, 2 * size)

    def _shrink(self, size: int, seconds: float) -> None:
        self.cautious_seconds = CAUTION
        shown = int(size / seconds * TARGET)
        self.most_bytes = max(LEAST, self.most_bytes // STEEPEST, min(shown, self.most_bytes // 2))
