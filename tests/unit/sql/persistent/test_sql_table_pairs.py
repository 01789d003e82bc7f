"""Which rows of two tables come out, whatever comes in which turn."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.sdk.frames import TopicRange
from penstock.sql.persistent.group_state import GroupState
from penstock.sql.persistent.pair_rows import Record
from penstock.sql.persistent.pair_stages import PairAccess
from penstock.sql.persistent.state_stages import StateAccess
from penstock.sql.persistent.table_join import opened
from penstock.sql.persistent.table_pairs import JoinTables, Row
from penstock.sql.persistent.table_store import TableRow
from penstock.sql.planning.join_window import LEFT_SIDE, RIGHT_SIDE
from penstock.sql.planning.pair_text import NOTE, PAIRED_COLUMNS, SHOWN, STATE_KEY
from penstock.sql.planning.turn_text import PAIRED

TYPES = {
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "BINARY": pa.binary(),
    "BOOLEAN": pa.bool_(),
    "STRING": pa.string(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "array<struct<key:string,value:binary>>": pa.list_(
        pa.struct([("key", pa.string()), ("value", pa.binary())])
    ),
}
OUT = pa.schema([(name, TYPES[kind]) for name, kind in PAIRED_COLUMNS.items()])
SIDED = {
    "task": pa.int32(),
    "key": pa.binary(),
    "value": pa.binary(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": TYPES["TIMESTAMP"],
    "headers": TYPES["array<struct<key:string,value:binary>>"],
    "penstock_side": pa.int32(),
    "penstock_join_key": pa.binary(),
    "penstock_time": pa.int64(),
    "penstock_side_error": pa.string(),
}
NEEDED = {
    "INNER": frozenset({LEFT_SIDE, RIGHT_SIDE}),
    "LEFT": frozenset({LEFT_SIDE}),
    "RIGHT": frozenset({RIGHT_SIDE}),
    "FULL": frozenset[int](),
}
Shown = tuple[str, str | None, str | None]


class Change(NamedTuple):
    """A record of one side; a tombstone has no value."""

    side: int
    key: str
    value: str | None


class Turns:
    """Turns of the stage, over a store that is written as SQL would have it written."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder = folder
        self._kind = kind
        self.offsets = [0, 0]

    def run(self, changes: Sequence[Change]) -> list[Shown | str]:
        """The rows that come out, and the keys of those that are there no more."""
        begin = list(self.offsets)
        rows = [self._record(each) for each in changes]
        batch = pa.Table.from_pylist(rows, pa.schema(SIDED.items()))
        ranges = tuple(TopicRange("t", side, begin[side], self.offsets[side]) for side in (0, 1))
        access = StateAccess(None, "q", ranges, None, str(self._folder))
        stage = JoinTables(PairAccess(access, {}), NEEDED[self._kind], OUT)
        out = [row for made in stage(batch.to_batches()) for row in made.to_pylist()]
        with opened(self._folder / "q" / "groups").writing() as store:
            GroupState(opened(self._folder / "q" / "groups"), None).keep(store, [*map(_kept, out)])
        return [told for row in out if (told := _told(row)) is not None]

    def _record(self, change: Change) -> dict[str, Any]:
        side, key, value = change
        raw, at = (None if value is None else value.encode()), self.offsets[side]
        self.offsets[side] += 1
        row: tuple[Any, ...] = (7, key.encode(), raw, 0, at, 0, [], side, key.encode(), 5, None)
        return dict(zip(SIDED, row, strict=True))


def _kept(row: dict[str, Any]) -> TableRow:
    note = row[NOTE]
    if row[SHOWN] is not None and note is not None:
        note = (b"\x01" if row[PAIRED] else b"\x00") + note
    return TableRow(0, 0, 0, row[STATE_KEY], note)


def _told(row: dict[str, Any]) -> Shown | str | None:
    key = (row["key"] or row["table_key"] or b"").decode()
    if row[PAIRED]:
        left, right = (row[n] and row[n].decode() for n in ("value", "table_value"))
        return key, left, right
    return key if row[SHOWN] else None


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


CHANGES = st.lists(
    st.builds(
        Change,
        st.sampled_from([LEFT_SIDE, RIGHT_SIDE]),
        st.sampled_from("abc"),
        st.one_of(st.none(), st.text("xyz", min_size=1, max_size=3)),
    ),
    max_size=20,
)


def joined(kind: str, key: str, sides: list[dict[str, str]]) -> Shown | None:
    """The row of a key."""
    there = [key in side for side in sides]
    if (all(there[n] for n in NEEDED[kind])) and any(there):
        return key, sides[0].get(key), sides[1].get(key)
    return None


@settings(max_examples=100, deadline=None)
@given(changes=CHANGES, kind=st.sampled_from([*NEEDED]), cuts=st.lists(st.integers(0, 20)))
def test_rows_follow_both_tables(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Change], kind: str, cuts: list[int]
) -> None:
    turns = Turns(tmp_path_factory.mktemp("tables"), kind)
    sides: list[dict[str, str]] = [{}, {}]
    ends = sorted({0, *(min(cut, len(changes)) for cut in cuts), len(changes)})
    for begin, end in itertools.pairwise(ends):
        part = changes[begin:end]
        before = {each.key: joined(kind, each.key, sides) for each in part}
        for each in part:
            sides[each.side].pop(each.key, None)
            if each.value is not None:
                sides[each.side][each.key] = each.value
        after = {key: joined(kind, key, sides) for key in before}
        wanted = [after[key] or key for key in before if after[key] or before[key]]
        assert sorted(turns.run(part), key=str) == sorted(wanted, key=str)


def test_a_side_that_is_read_again_forgets_what_it_had(folder: Path) -> None:
    turns = Turns(folder, "FULL")
    turns.run([Change(0, "a", "x"), Change(0, "b", "x"), Change(1, "a", "y"), Change(1, "b", "y")])
    turns.offsets[0] = 0
    assert turns.run([Change(0, "a", "z")]) == [("a", "z", "y")]
    assert turns.run([Change(1, "b", "z")]) == [("b", None, "z")]
    assert turns.run([Change(0, "b", "w")]) == [("b", "w", "z")]


def test_rows_are_packed_exactly() -> None:
    row = Row(begun=[2, 3])
    row.put(LEFT_SIDE, Record(1, 2, 3, b"k", b"v", [("h", b"\x00")]), 9)
    row.put(RIGHT_SIDE, Record(1, 2, 3, b"k", None), 8)
    packed = row.packed()
    assert packed is not None
    read = Row.unpacked(b"\x01" + packed, [2, 3])
    assert (read.sides, read.time, read.shown) == ([row.sides[0], None], 9, True)
    assert Row.unpacked(b"\x00" + packed, [3, 3]).sides == [None, None]
    row.put(LEFT_SIDE, Record(1, 4, 3, b"k", None), 9)
    assert row.packed() is None
