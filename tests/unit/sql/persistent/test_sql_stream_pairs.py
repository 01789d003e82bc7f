"""Which rows of two streams are joined, and how the state keeps them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.sql.persistent.group_state import GroupState, Mark
from penstock.sql.persistent.pair_rows import KeptRows, PairRow, Record, by_join_key, digest
from penstock.sql.persistent.stream_pairs import NEVER, Pair, StreamPairs
from penstock.sql.persistent.table_store import TableRow, TableStore
from penstock.sql.planning.join_window import LEFT_SIDE, RIGHT_SIDE, JoinWindow

WINDOW = JoinWindow(5, 3, 2)
BOTH = frozenset({LEFT_SIDE, RIGHT_SIDE})
Told = tuple[int | None, int | None]
"""The offsets of a pair."""


class Given(NamedTuple):
    """A row as the tests have it."""

    side: int
    key: str
    time: int


class Turns:
    """Turns over a store, as the stage runs them."""

    def __init__(self, store: TableStore, outer: frozenset[int], window: JoinWindow = WINDOW):
        self._store = store
        self._state = GroupState(store, None, by_join_key)
        self._outer = outer
        self._window = window
        self._mark = Mark()
        self._offset = 0
        self.clock = NEVER
        self.late: list[int] = []

    def run(self, rows: Sequence[Given], most: int | None = None) -> list[Told]:
        """What comes out of a turn."""
        kept = KeptRows(self._state, self._mark, 0)
        turn = StreamPairs(self._window, self._outer, kept, clock=self.clock, most=most)
        found: list[Pair] = []
        for each in rows:
            row = self._row(each)
            found += turn.advance(each.time)
            if turn.is_late(row):
                self.late.append(row.record.offset)
            else:
                found += turn.take(row)
        self.clock = turn.clock
        self._keep(turn, kept)
        return [(_offset(pair.left), _offset(pair.right)) for pair in found]

    def _row(self, each: Given) -> PairRow:
        self._offset += 1
        record = Record(0, self._offset, each.time, b"k", b"v")
        return PairRow(0, each.side, digest(each.key.encode()), each.time, record)

    def _keep(self, turn: StreamPairs, kept: KeptRows) -> None:
        notes = [
            TableRow(0, 0, 0, r.state_key(self._mark), r.record.packed(matched=r.matched))
            for r in turn.stored()
        ]
        notes += [
            TableRow(0, 0, 0, key, None)
            for side in (LEFT_SIDE, RIGHT_SIDE)
            for keys in kept.keys_until(side, 0, self._window.over(side, turn.clock))
            for key in keys
        ]
        with self._store.writing() as store:
            self._state.keep(store, notes)

    def stored(self) -> int:
        """How many rows are kept."""
        return len(self._store.keys(b"g", b"h", 1000))


def _offset(row: PairRow | None) -> int | None:
    return None if row is None else row.record.offset


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TableStore]:
    made = TableStore(tmp_path / "rows")
    yield made
    made.close()


def plainly(rows: Sequence[Given], outer: frozenset[int]) -> tuple[list[Told], list[int]]:
    """The same by looking at every row each time: what comes out, and what is late."""
    clock, out, late = NEVER, list[Told](), list[int]()
    known: dict[int, Given] = {}
    matched, over = set[int](), set[int]()
    closes = {LEFT_SIDE: WINDOW.after + WINDOW.grace, RIGHT_SIDE: WINDOW.before + WINDOW.grace}
    for number, row in enumerate(rows, start=1):
        clock = max(clock, row.time)
        ended = [n for n, r in known.items() if r.time + closes[r.side] < clock and n not in over]
        over |= {*ended}
        alone = (n for n in ended if n not in matched and known[n].side in outer)
        out += [(n, None) if known[n].side == LEFT_SIDE else (None, n) for n in alone]
        if row.time + closes[row.side] < clock:
            late.append(number)
            continue
        for n, other in known.items():
            left, right = (row, other) if row.side == LEFT_SIDE else (other, row)
            near = -WINDOW.before <= right.time - left.time <= WINDOW.after
            if other.side != row.side and other.key == row.key and near and n not in over:
                out.append((number, n) if row.side == LEFT_SIDE else (n, number))
                matched |= {number, n}
        known[number] = row
    return out, late


ROWS = st.lists(
    st.builds(
        Given, st.sampled_from([LEFT_SIDE, RIGHT_SIDE]), st.sampled_from("ab"), st.integers(0, 40)
    ),
    max_size=25,
)
OUTER = st.sampled_from([frozenset[int](), frozenset({LEFT_SIDE}), frozenset({RIGHT_SIDE}), BOTH])


def by_content(told: Sequence[Told]) -> list[Told]:
    return sorted(told, key=lambda each: [-1 if n is None else n for n in each])


@settings(max_examples=150, deadline=None)
@given(rows=ROWS, outer=OUTER, cuts=st.lists(st.integers(0, 25), max_size=6))
def test_rows_are_joined_however_they_are_cut_into_turns(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Given],
    outer: frozenset[int],
    cuts: list[int],
) -> None:
    store = TableStore(tmp_path_factory.mktemp("rows"))
    try:
        turns, found = Turns(store, outer), list[Told]()
        ends = sorted({0, *(min(cut, len(rows)) for cut in cuts), len(rows)})
        for begin, end in itertools.pairwise(ends):
            found += turns.run(rows[begin:end])
        wanted, late = plainly(rows, outer)
        assert by_content(found) == by_content(wanted)
        assert turns.late == late
        assert len(found) == len(set(found)), "nothing comes out twice"
    finally:
        store.close()


@settings(max_examples=100, deadline=None)
@given(rows=ROWS)
def test_rows_that_are_not_late_are_joined_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Given]
) -> None:
    store = TableStore(tmp_path_factory.mktemp("rows"))
    try:
        turns = Turns(store, BOTH, JoinWindow(5, 3, 100))
        found = {frozenset(each) for each in turns.run(rows)}
        wanted = {
            frozenset({n, m})
            for n, left in enumerate(rows, start=1)
            for m, right in enumerate(rows, start=1)
            if (left.side, right.side) == (LEFT_SIDE, RIGHT_SIDE)
            if left.key == right.key and -5 <= right.time - left.time <= 3
        }
        assert found == wanted
    finally:
        store.close()


def test_what_comes_out_alone_comes_in_the_order_of_its_end(store: TableStore) -> None:
    turns = Turns(store, BOTH)
    assert turns.run([Given(RIGHT_SIDE, "a", 10), Given(LEFT_SIDE, "b", 11)]) == []
    assert turns.run([Given(LEFT_SIDE, "c", 9), Given(LEFT_SIDE, "d", 30)]) == [
        (3, None),
        (2, None),
        (None, 1),
    ]
    assert turns.stored() == 1


def test_a_row_that_was_matched_in_an_earlier_turn_does_not_come_out_alone(
    store: TableStore,
) -> None:
    turns = Turns(store, BOTH)
    turns.run([Given(LEFT_SIDE, "a", 10)])
    assert turns.run([Given(RIGHT_SIDE, "a", 12)]) == [(1, 2)]
    assert turns.run([Given(RIGHT_SIDE, "a", 13)]) == [(1, 3)]
    assert turns.run([Given(LEFT_SIDE, "z", 100)]) == []
    assert turns.stored() == 1


def test_time_does_not_go_beyond_what_was_read(store: TableStore) -> None:
    turns = Turns(store, frozenset({LEFT_SIDE}))
    assert turns.run([Given(LEFT_SIDE, "a", 10), Given(LEFT_SIDE, "b", 90)], most=12) == []
    assert turns.clock == 12
    assert turns.run([Given(RIGHT_SIDE, "a", 13)]) == [(1, 3)]
    assert turns.run([Given(RIGHT_SIDE, "z", 80)], most=5) == []
    assert turns.clock == 13
    assert turns.run([Given(RIGHT_SIDE, "b", 88)]) == [(2, 5)]
    assert turns.late == []


def test_records_are_packed_exactly() -> None:
    for record in (
        Record(3, 1 << 40, 1_700_000_000_000, b"k" * 700, b"", ()),
        Record(0, 0, 0, None, None, [("a", None), ("a", b"\xff\x00"), ("", b"")]),
    ):
        for matched in (True, False):
            stored = record.packed(matched=matched) + b"rest"
            assert Record.unpacked(stored) == (matched, record, b"rest")
