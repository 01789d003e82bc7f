"""Which carrier runs a lease."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.engine.carriers.placement import Decision, Seat, Wish, place, should_move

SHARED = Seat("a", own=False, connected=True, leases=3, load=0.1, room=100)
OTHER = replace(SHARED, carrier="b", load=0.2)
COMING = replace(SHARED, carrier="c", connected=False, leases=0, load=0.0)
OWN = replace(SHARED, carrier="o", own=True, leases=1, load=0.9)
BUSY = replace(SHARED, load=0.6)
FULL = replace(SHARED, room=0)
EMPTY = replace(SHARED, carrier="e", leases=0, load=0.0)
SUSPECTS = replace(SHARED, carrier="s", groups=frozenset({"g"}), load=0.0)


@pytest.mark.parametrize(
    ("wish", "seats", "most", "decision"),
    [
        (Wish(), [], 7, Decision(start=True)),
        (Wish(), [SHARED], 7, Decision("a")),
        (Wish(), [SHARED, OTHER], 7, Decision("a")),
        (Wish(last="b"), [SHARED, OTHER], 7, Decision("b")),
        (Wish(last="gone"), [SHARED, OTHER], 7, Decision("a")),
        (Wish(last="o"), [SHARED, OWN], 7, Decision("a")),
        (Wish(), [COMING], 7, Decision("c")),
        (Wish(), [COMING, SHARED], 7, Decision("a")),
        (Wish(), [BUSY], 7, Decision("a", start=True)),
        (Wish(), [BUSY], 1, Decision("a")),
        (Wish(), [BUSY, COMING], 7, Decision("a")),
        (Wish(last="a"), [BUSY, OTHER], 7, Decision("a")),
        (Wish(last="a"), [replace(BUSY, load=0.8), OTHER], 7, Decision("b")),
        (Wish(last="a"), [replace(BUSY, room=0), OTHER], 7, Decision("b")),
        (Wish(), [FULL], 7, Decision(start=True)),
        (Wish(), [FULL, COMING], 7, Decision("c")),
        (Wish(), [FULL], 1, Decision("a")),
        (Wish(), [OWN], 1, Decision("o")),
        (Wish(), [OWN], 2, Decision("o", start=True)),
        (Wish(heavy=True), [SHARED], 7, Decision(start=True, own=True)),
        (Wish(heavy=True), [SHARED, OTHER], 2, Decision("a")),
        (Wish(heavy=True), [SHARED, replace(OWN, leases=0)], 7, Decision("o")),
        (Wish(heavy=True), [], 1, Decision(start=True, own=True)),
        (Wish(group="g"), [SHARED], 7, Decision(start=True)),
        (Wish(group="g"), [], 1, Decision(start=True)),
        (Wish(group="g"), [SHARED], 1, Decision("a")),
        (Wish(group="g"), [SHARED, EMPTY], 7, Decision("e")),
        (Wish(group="g"), [SHARED, replace(EMPTY, own=True)], 7, Decision(start=True)),
        (Wish(group="g"), [EMPTY, SUSPECTS], 7, Decision("s")),
        (Wish(group="g"), [SHARED, SUSPECTS], 2, Decision("s")),
        (Wish(group="h"), [SUSPECTS], 2, Decision(start=True)),
        (Wish(group="h"), [SUSPECTS], 1, Decision("s")),
        (Wish(group="h", repeated=True), [SHARED, SUSPECTS], 2, Decision("a")),
        (Wish(group="h", repeated=True), [SUSPECTS], 1, Decision(wait=True)),
        (Wish(), [SUSPECTS], 2, Decision(start=True)),
        (Wish(), [SUSPECTS], 1, Decision("s")),
        (Wish(heavy=True), [SUSPECTS], 1, Decision("s")),
    ],
)
def test_placing(wish: Wish, seats: list[Seat], most: int, decision: Decision) -> None:
    assert place(wish, seats, most) == decision


@pytest.mark.parametrize(
    ("load", "own", "sharers", "free", "moves"),
    [
        (0.9, False, 5, 1, True),
        (0.9, False, 0, 1, False),
        (0.9, False, 5, 0, False),
        (0.2, False, 5, 1, False),
        (0.9, True, 0, 1, False),
        (0.2, True, 0, 1, False),
        (0.1, True, 0, 1, True),
    ],
)
def test_moving(*, load: float, own: bool, sharers: int, free: int, moves: bool) -> None:
    assert should_move(load, own=own, sharers=sharers, free=free) is moves


def test_a_hundred_light_leases_need_one_carrier() -> None:
    seats: list[Seat] = []
    for _ in range(100):
        decision = place(Wish(), seats, 7)
        if decision.start:
            seats = [replace(SHARED, leases=0, load=0.0)]
        seats = [replace(seats[0], leases=seats[0].leases + 1, load=seats[0].load + 0.001)]
    assert len(seats) == 1
    assert seats[0].leases == 100
