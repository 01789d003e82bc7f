"""The first load of a table in ranges of its number, side by side, until one offset is enough.

A range has an offset of its own, with all that its siblings can be told from: whatever was
committed of a load is enough to go on with it. When all ranges are read, one batch sets the table's
offset and forgets theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.plugins.databases.table_offsets import (
    INCREMENTING,
    RANGE,
    RANGE_HIGH,
    RANGE_LOW,
    TABLE,
    RowOffset,
    known_partition,
    table_partition,
)
from penstock.sdk.databases import TableId
from penstock.sdk.offsets import ChangedOffset, OffsetReader, SourceOffset, SourcePartition

WORTH_IT: Final = 200_000
"""How many numbers a table must span to be loaded in ranges."""


@dataclass(frozen=True)
class LoadRange:
    """Part ``index`` of ``count`` of the rows whose numbers are from ``low`` to ``high``."""

    index: int
    count: int
    low: int
    high: int

    @property
    def after(self) -> int:
        """The number behind which it begins."""
        return self.low - 1 + (self.high - self.low + 1) * self.index // self.count

    @property
    def until(self) -> int:
        """Its last number."""
        return self.low - 1 + (self.high - self.low + 1) * (self.index + 1) // self.count

    def siblings(self) -> list[LoadRange]:
        """All ranges of the load, in order."""
        return [LoadRange(i, self.count, self.low, self.high) for i in range(self.count)]

    def partition(self, table: TableId) -> SourcePartition:
        """Its source partition."""
        return {**table_partition(table), RANGE: f"{self.index}/{self.count}"}

    def offset(self, last: RowOffset) -> SourceOffset:
        """As it is stored, once all up to ``last`` is read."""
        return {**last.to_json(), RANGE_LOW: self.low, RANGE_HIGH: self.high}

    def reached(self, table: TableId, offsets: OffsetReader) -> RowOffset:
        """Where it stands."""
        stored = offsets.get(self.partition(table)) or {}
        return RowOffset(stored.get(INCREMENTING, self.after))


@dataclass(frozen=True)
class Merge:
    """The end of a load: the table's own offset is ``high``, those of the ranges go."""

    high: int | None
    ranges: Sequence[SourcePartition]

    def changes(self, table: TableId) -> list[ChangedOffset]:
        """What is committed."""
        gone: list[ChangedOffset] = [(partition, None) for partition in self.ranges]
        own = RowOffset(self.high).to_json()
        return gone if self.high is None else [(table_partition(table), own), *gone]


def stored_ranges(table: TableId, offsets: OffsetReader) -> list[tuple[SourcePartition, Any]]:
    """The source partitions of a table's ranges, and their offsets."""
    return [(p, o) for p, o in offsets if RANGE in p and p.get(TABLE) == str(table)]


def load_of(
    table: TableId, offsets: OffsetReader, *, wanted: bool
) -> Sequence[LoadRange] | Merge | None:
    """What a load that has begun still needs: ranges to read, or its end; None without a load.

    One that is no longer ``wanted``, since the mode has changed, is forgotten.
    """
    stored = stored_ranges(table, offsets)
    if not stored:
        return None
    partitions = [partition for partition, _ in stored]
    if not wanted or offsets.get(known_partition(table, offsets)) is not None:
        return Merge(None, partitions)  # the table's own offset was set, and rules
    ranges = _layout(*stored[0])
    left = [r for r in ranges if (r.reached(table, offsets).incrementing or 0) < r.until]
    return left or Merge(ranges[0].high, partitions)


def _layout(partition: SourcePartition, offset: Mapping[str, Any]) -> list[LoadRange]:
    _, _, count = str(partition[RANGE]).partition("/")
    return LoadRange(0, int(count), offset[RANGE_LOW], offset[RANGE_HIGH]).siblings()


def cut(low: int | None, high: int | None, parts: int) -> list[LoadRange]:
    """Ranges of a table whose numbers are from ``low`` to ``high``; none if it is not worth it."""
    if low is None or high is None or parts < 2 or high - low < WORTH_IT:
        return []
    return LoadRange(0, parts, low, high).siblings()


def without_loads(
    committed: OffsetReader, altered: Sequence[ChangedOffset]
) -> Iterator[ChangedOffset]:
    """``altered``, and that the ranges of a table whose own offset is altered are forgotten."""
    yield from altered
    tables = {str(p[TABLE]) for p, _ in altered if TABLE in p and RANGE not in p}
    named = [p for p, _ in altered]
    for partition, _ in committed:
        if RANGE in partition and partition.get(TABLE) in tables and partition not in named:
            yield partition, None
