"""What one task of a turn may do, and how it says what it has done."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.lease.lease import Report, SinkLease
from penstock.kafka.groups import Committed
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId

MOST_ERRORS = 20
"""Texts of bad rows that a task reports."""


@dataclass(frozen=True)
class FrameLease(SinkLease):
    """The right to read these ranges, and to commit their ends with what was made of them."""

    ranges: tuple[Range, ...] = ()

    @property
    def ends(self) -> dict[PartitionId, Committed]:
        """What is committed: the ends of the ranges, and starts that could be others next time."""
        stops = {(r.topic, r.partition): r.stop for r in self.ranges}
        unsaid = self.uncommitted_starts
        return {
            position: (stops.get(position, a.offset), a.metadata)
            for a in self.assignments
            if (position := (a.topic, a.partition)) in stops or position in unsaid
        }

    @property
    def offsets(self) -> int:
        """How many offsets its ranges have."""
        return sum(each.count for each in self.ranges)


@dataclass(frozen=True)
class FrameReport(Report):
    """How a task of a turn ended."""

    produced: int = 0
    bad_rows: int = 0
    errors: tuple[str, ...] = ()
    """The texts of the first of these rows."""
