"""The stage of a join of two tables: of each key, the rows that both sides have.

If the offsets of one topic are set back, what was kept of that side does not count any more; the
other side stays.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from penstock.sql.persistent.group_state import MARK, Mark
from penstock.sql.persistent.pair_rows import Record
from penstock.sql.persistent.pair_stages import Arrivals, Arrived, Out, PairAccess
from penstock.sql.planning.join_window import LEFT_SIDE, RIGHT_SIDE

SIDES = (LEFT_SIDE, RIGHT_SIDE)
HEAD = struct.Struct(">?qI")
"""Of a side: whether it has a row, its time, and how often the side was begun again."""
FLAG_BYTES = 1
"""Before the sides: whether the row had come out. SQL writes it, which knows."""


@dataclass
class Row:
    """What both sides have for a key; a tombstone is a record without a value."""

    sides: list[Record | None] = field(default_factory=lambda: [None, None])
    times: list[int] = field(default_factory=lambda: [0, 0])
    begun: Sequence[int] = (0, 0)
    """How often each side was begun again."""
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
        head = HEAD.pack(there, self.times[side], self.begun[side])
        return head + record.packed() if record is not None and there else head

    @staticmethod
    def unpacked(stored: bytes, begun: Sequence[int]) -> Row:
        """The reverse, with the flag; without a side that was begun again since."""
        flag, rest = stored[:FLAG_BYTES], stored[FLAG_BYTES:]
        row = Row(begun=begun, shown=flag == b"\x01", is_kept=True)
        for side in SIDES:
            there, time, then = HEAD.unpack_from(rest)
            rest = rest[HEAD.size :]
            if there:
                _, record, rest = Record.unpacked(rest)
                if then == begun[side]:
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
        state, mark = self.access.state.read()
        begun = self._begun(mark)
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
            row = Row(begun=begun) if stored is None else Row.unpacked(stored, begun)
            for each in changed:
                row.put(each.side, each.record, each.time or 0)
            yield from self._changed(key, row, out)
        ended = mark.ended(self.access.state.ranges, arrivals.latest())
        yield from out.note(MARK, replace(ended, clocks=dict(enumerate(begun))).packed())
        yield from out.rest()

    def _begun(self, mark: Mark) -> Sequence[int]:
        """How often each side was begun again, this turn included."""
        again = {number % 2 for number in mark.repeated(self.access.state.ranges)}
        return [mark.clocks.get(side, 0) + (side in again) for side in SIDES]

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
