"""Which session each row goes into, and how the state finds the windows of a group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.sql.persistent.group_state import GroupState, Mark, by_group
from penstock.sql.persistent.sessions import KeptWindow, Sessions
from penstock.sql.persistent.table_store import TableRow, TableStore
from penstock.sql.planning.windows import SessionWindow

GROUP = b"x"


def sessions(
    *kept: tuple[int, int],
    grace: int = 1000,
    retention: int = 0,
    times: dict[int, int] | None = None,
) -> Sessions:
    found = [KeptWindow(first, last, b"%d" % last, b"") for first, last in kept]
    window = SessionWindow(10, grace, retention)
    return Sessions(window, times or {}, lambda group: found if group == GROUP else [])


def bounds(found: Sessions) -> list[tuple[int, int, int]]:
    """Of each session that has changed: where it begins and ends, and how many went into it."""
    return [(s.first, s.last, len(s.olds)) for s in found.changed().get(GROUP, [])]


def test_rows_within_the_gap_are_one_session() -> None:
    found = sessions()
    parts = [found.take(GROUP, time, 0) for time in (100, 110, 121, 131, 95)]
    assert parts[0] == parts[1] == parts[4] != parts[2] == parts[3]
    assert bounds(found) == [(95, 110, 0), (121, 131, 0)]


def test_a_row_between_makes_one_of_several() -> None:
    found = sessions((100, 105), (118, 120))
    for time in (141, 130, 135, 111):
        found.take(GROUP, time, 0)
    assert bounds(found) == [(100, 141, 2)]
    (session,) = found.changed()[GROUP]
    assert len(session.parts) == 2, "rows that came when there were two sessions"


def test_sessions_that_no_row_goes_into_have_not_changed() -> None:
    found = sessions((100, 105), (200, 205))
    found.take(GROUP, 206, 0)
    assert bounds(found) == [(200, 206, 1)]
    assert found.changed().keys() == {GROUP}


@pytest.mark.parametrize(("time", "is_late"), [(85, True), (90, True), (91, False)])
def test_a_row_is_late_when_its_session_could_not_go_on(time: int, *, is_late: bool) -> None:
    found = sessions(grace=5)
    found.take(b"y", 106, 0)
    assert (found.take(GROUP, time, 0) is None) is is_late


def test_a_row_is_not_late_for_a_session_that_is_open() -> None:
    found = sessions((92, 95), grace=0)
    found.take(b"y", 102, 0)
    assert found.take(GROUP, 88, 0) is not None
    assert bounds(found) == [(88, 95, 1)]


def test_a_session_that_is_over_takes_no_row() -> None:
    found = sessions((80, 85), grace=0)
    found.take(b"y", 96, 0)
    assert found.take(GROUP, 90, 0) is not None
    assert bounds(found) == [(90, 90, 0)]


def test_each_partition_has_a_time_of_its_own() -> None:
    found = sessions(grace=0, retention=200, times={0: 150})
    assert found.take(GROUP, 20, 1) is not None
    assert found.take(GROUP, 20, 0) is None
    behind = sessions(grace=0, retention=100, times={0: 150})
    assert behind.take(GROUP, 20, 1) is None, "its state is not kept for so long"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TableStore]:
    made = TableStore(tmp_path / "groups")
    yield made
    made.close()


def put(state: GroupState, store: TableStore, keys: list[bytes], value: bytes | None) -> None:
    with store.writing() as writing:
        state.keep(writing, [TableRow(0, 0, 0, key, value) for key in keys])


def test_windows_are_found_by_group_and_by_end(store: TableStore) -> None:
    state, mark = GroupState(store, None, by_group), Mark()
    long = b"a long group" * 100
    keys = [mark.window_key(g, n, n + 5) for g in (b"a", long) for n in range(0, 3000, 2)]
    put(state, store, keys, b"kept")
    assert [w[:2] for w in state.windows_of(mark, long)] == [(n, n + 5) for n in range(0, 3000, 2)]
    assert [w.last for some in state.over(mark, 7) for w in some] == [5, 5, 7, 7]
    put(state, store, keys[:-1], None)
    assert state.windows_of(mark, b"a") == []
    assert state.windows_of(mark, long) == [KeptWindow(2998, 3003, keys[-1], b"kept")]
    assert state.windows_of(Mark(2), long) == []
    assert state.outdated(Mark(2), None, 10) == [keys[-1]]


def test_rows_of_a_table_with_long_keys_are_deleted_too(store: TableStore) -> None:
    state, mark = GroupState(store, None), Mark()
    keys = [mark.row_key(b"k"), mark.row_key(b"k" * 1000)]
    put(state, store, keys, b"kept")
    assert state.found(keys) == [b"kept", b"kept"]
    assert sorted(state.outdated(Mark(2), None, 10)) == sorted(keys)
