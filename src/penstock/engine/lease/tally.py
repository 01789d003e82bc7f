"""Counts of what a lease has done, per batch and per commit, never per record.

Sums grow over the life of a lease, so a lost beat loses nothing. Peaks are those since the last
message: a lease's whole life is too long for "the longest recently".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass
class Tally:
    """Counts of one lease, or of several added up."""

    records: int = 0
    """Committed."""
    payload_bytes: int = 0
    transactions: int = 0
    aborts: int = 0
    taken: int = 0
    """Records polled from a source or read from topics."""
    given: int = 0
    """Records written by a source's transactions or put to a sink."""
    batches: int = 0
    batch_seconds: float = 0.0
    """Spent in the task's own poll (of those that brought something) or put."""
    commit_seconds: float = 0.0
    retries: int = 0
    bad_records: int = 0
    skipped: int = 0
    dead_letters: int = 0
    largest_batch: int = 0
    largest_transaction: int = 0
    longest_batch: float = 0.0
    longest_commit: float = 0.0

    def count_batch(self, records: int, seconds: float) -> None:
        """The task has returned a batch, or taken one."""
        self.batches += 1
        self.batch_seconds += seconds
        self.largest_batch = max(self.largest_batch, records)
        self.longest_batch = max(self.longest_batch, seconds)

    def count_commit(self, records: int, payload_bytes: int, seconds: float) -> None:
        """A transaction of this size was committed."""
        self.records += records
        self.payload_bytes += payload_bytes
        self.transactions += 1
        self.commit_seconds += seconds
        self.largest_transaction = max(self.largest_transaction, records)
        self.longest_commit = max(self.longest_commit, seconds)

    def add(self, more: Tally) -> None:
        """Add ``more``: sums are added, of peaks the higher one is kept."""
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(more, name))
        for name in PEAKS:
            setattr(self, name, max(getattr(self, name), getattr(more, name)))

    def since(self, before: Tally) -> Tally:
        """The difference from ``before``, an earlier state of the same lease."""
        sums = {name: getattr(self, name) - getattr(before, name) for name in SUMS}
        return Tally(**sums, **{name: getattr(self, name) for name in PEAKS})

    def tell(self) -> dict[str, Any]:
        """For a message to the worker; resets the peaks."""
        told = {name: getattr(self, name) for name in (*SUMS, *PEAKS)}
        for name in PEAKS:
            setattr(self, name, 0)
        return told


PEAKS = ("largest_batch", "largest_transaction", "longest_batch", "longest_commit")
SUMS = tuple(each.name for each in fields(Tally) if each.name not in PEAKS)
