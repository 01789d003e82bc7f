"""Who is due when."""

from __future__ import annotations

from penstock.runtime.running.timetable import GRIDS, Timetable

A, B = "a", "b"


def test_an_entry_is_due_at_its_time_and_once() -> None:
    table: Timetable[str] = Timetable()
    table.enter(A, now=0.0, delay=0.01)
    assert table.take(0.009) is None
    assert table.take(0.01) == A
    assert table.take(10.0) is None
    assert table.pause(10.0) is None


def test_who_has_been_due_longest_comes_first() -> None:
    table: Timetable[str] = Timetable()
    table.enter(A, 0.0, 0.02)
    table.enter(B, 0.0, 0.01)
    assert [table.take(1.0), table.take(1.0)] == [B, A]


def test_the_earliest_of_several_times_counts() -> None:
    table: Timetable[str] = Timetable()
    assert table.enter(A, 0.0, 60.0)
    assert table.enter(A, 0.0, 0.01)
    assert not table.enter(A, 0.0, 30.0)
    assert not table.enter(B, 0.0, 0.02), "nobody has to wait less for it"
    assert table.take(0.01) == A
    assert [table.take(100.0), table.take(100.0)] == [B, None], "its later time is no more"


def test_who_was_struck_off_is_not_due_until_entered_again() -> None:
    table: Timetable[str] = Timetable()
    table.enter(A, 0.0, 0.0)
    table.strike(A)
    assert table.pause(0.0) is None
    table.enter(A, 0.0, 0.0)
    assert table.take(0.0) == A


def test_times_further_off_are_met_together() -> None:
    table: Timetable[int] = Timetable()
    for number in range(1000):
        table.enter(number, now=number / 1000, delay=1.0)
    awakenings, now = 0, 0.0
    while (pause := table.pause(now)) is not None:
        awakenings, now = awakenings + 1, now + pause
        while table.take(now) is not None:
            pass
    assert awakenings <= 1 / GRIDS[0] + 1
    assert now <= 2.0 + GRIDS[0]
