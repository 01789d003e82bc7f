"""The stage of a join of two tables: of each key, the rows that both sides have."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from penstock.sql.persistent.group_state import MARK
from penstock.sql.persistent.pair_rows import Record
from penstock.sql.persistent.pair_stages import Arrivals, Arrived, Out, PairAccess
from penstock.sql.persistent.state_stages import MOST_DELETED
from penstock.sql.planning.join_window import LEFT_SIDE, RIGHT_SIDE

SIDES = (LEFT_SIDE, RIGHT_SIDE)
HEAD = struct.Struct(">?q")
"""Of a side: whether it has a row, and its time."""
FLAG_BYTES = 1
"""Before the sides: whether the row had come out. SQL writes it, which knows."""


@dataclass
class Row:
    """What both sides have for a key; a tombstone is a record without a value."""

    sides: list[Record | None] = field(default_factory=lambda: [None, None])
    times: list[int] = field(default_factory=lambda: [0, 0])
    shown: bool = False
    is_kept: bool = False
    """Whether the state has it."""

    def put(self, side: int, record: Record, time: int) -> None:
        """The side has changed."""
        self.sides[side], self.times[side] = record, time

    def has(self, side: int) -> bool:
        """Whether the side has a row."""
        record = self.sides[side]
        return record is not None and record.value is not None

    @property
    def time(self) -> int:
        """The later of the two."""
        return max(t for t, record in zip(self.times, self.sides, strict=True) if record)

    def packed(self) -> bytes | None:
        """As the state keeps it, without the flag; None if neither side has a row."""
        if not any(map(self.has, SIDES)):
            return None
        return b"".join(map(self._side, SIDES))

    def _side(self, side: int) -> bytes:
        record, there = self.sides[side], self.has(side)
        head = HEAD.pack(there, self.times[side])
        return head + record.packed() if record is not None and there else head

    @staticmethod
    def unpacked(stored: bytes) -> Row:
        """The reverse, with the flag."""
        row, rest = Row(shown=stored[:FLAG_BYTES] == b"\x01", is_kept=True), stored[FLAG_BYTES:]
        for side in SIDES:
            there, time = HEAD.unpack_from(rest)
            rest = rest[HEAD.size :]
            if there:
                _, record, rest = Record.unpacked(rest)
                row.put(side, record, time)
        return row


@dataclass(frozen=True)
class JoinTables:
    """Gives a row for each key that has changed, with what is to be stored of it."""

    access: PairAccess
    needed: frozenset[int]
    """The sides that have to have a row; none if either will do."""
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state, mark = self.access.state.begin()
        arrivals = Arrivals.of(batches)
        out = Out(arrivals.task, self.schema)
        changes: dict[bytes, list[Arrived]] = {}
        for each in arrivals.in_order():
            if each.error is not None:
                yield from out.wrong(each.record, each.error)
            elif each.key is not None:
                changes.setdefault(each.key, []).append(each)
        keys = [mark.row_key(key) for key in changes]
        kept = zip(keys, state.found(keys), changes.values(), strict=True)
        for key, stored, changed in kept:
            row = Row() if stored is None else Row.unpacked(stored)
            for each in changed:
                row.put(each.side, each.record, each.time or 0)
            yield from self._changed(key, row, out)
        for key in state.outdated(mark, None, MOST_DELETED):
            yield from out.note(key, None)
        ended = mark.ended(self.access.state.ranges, arrivals.latest())
        yield from out.note(MARK, ended.packed())
        yield from out.rest()

    def _changed(self, key: bytes, row: Row, out: Out) -> Iterator[pa.RecordBatch]:
        note = row.packed()
        if note is None and not row.is_kept:
            return
        paired = self._has_row(row)
        # The key of a row that is there no more may be that of a tombstone.
        left, right = (row.sides[s] if row.has(s) or not paired else None for s in SIDES)
        yield from out.pair(
            left, right, row.time, paired=paired, state_key=key, note=note, shown=row.shown
        )

    def _has_row(self, row: Row) -> bool:
        if not self.needed:
            return any(map(row.has, SIDES))
        return all(map(row.has, self.needed))
