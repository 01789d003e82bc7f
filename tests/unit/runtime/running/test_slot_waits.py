"""Who waits long for a slot is spoken of, and not too often."""

from __future__ import annotations

from types import SimpleNamespace

from clocks import Clock
from penstock.runtime.running.slot_waits import SlotWaits


def test_a_wait_that_lasts_is_worth_a_word_now_and_then() -> None:
    clock = Clock()
    waits = SlotWaits(clock)
    began, said = clock.now, []
    waits.enter(SimpleNamespace(name="lines"))
    for second in range(1500):
        clock.now = began + second
        said += waits.overdue()
    assert said == [("lines", seconds) for seconds in (30, 60, 120, 240, 480, 780, 1080, 1380)]


def test_who_has_got_a_slot_waits_no_more() -> None:
    clock = Clock()
    waits = SlotWaits(clock)
    first, second = SimpleNamespace(name="first"), SimpleNamespace(name="second")
    waits.enter(first)
    waits.enter(second)
    waits.leave(first)
    waits.leave(first)
    assert len(waits) == 1
    clock.now += 31
    assert waits.overdue() == [("second", 31)]
    waits.leave(second)
    waits.enter(second)
    assert waits.overdue() == []
