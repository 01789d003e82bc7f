"""Which records a sink's task was given since the last commit."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from penstock.engine.lease.lease import Range
from penstock.kafka.groups import Committed
from penstock.kafka.topics import PartitionId


class GivenRecords:
    """For each partition the first uncommitted offset, and the one after the last."""

    def __init__(self) -> None:
        self.ranges: dict[PartitionId, tuple[int, int]] = {}

    def note(self, position: PartitionId, offsets: pa.Array) -> None:
        """The task has put the records at these offsets."""
        first, _ = self.ranges.get(position, (offsets[0].as_py(), 0))
        self.ranges[position] = first, offsets[-1].as_py() + 1

    def committed(self, ends: Mapping[PartitionId, Committed]) -> None:
        """Everything before ``ends`` is committed."""
        for position in ends.keys() & self.ranges.keys():
            self.ranges[position] = ends[position][0], self.ranges[position][1]

    def uncommitted(self) -> tuple[Range, ...]:
        """What was put since the last successful commit."""
        given = ((*position, *ends) for position, ends in sorted(self.ranges.items()))
        return tuple((t, p, first, end) for t, p, first, end in given if first < end)
