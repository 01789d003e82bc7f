"""Which turns are cancelled, because their leases should have ended long ago."""

from __future__ import annotations

import socket
import time

import pytest

from penstock.engine.driver.watches import TurnWatch
from penstock.engine.lease.lease import Limits

GRACE = 5.0


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    return clock


def begun() -> TurnWatch:
    turn = TurnWatch(Limits(lease_seconds=60.0))
    turn.begin()
    turn.expect("lease")
    return turn


def beat(turn: TurnWatch, **body: int) -> None:
    with socket.socket() as connection:
        turn.beat("lease", connection, dict(body))


def test_one_that_hangs(clock: Clock) -> None:
    turn = begun()
    beat(turn, waits=7)
    clock.now += 60.0 + GRACE + 0.1
    beat(turn, waits=7)
    assert turn.overdue(GRACE)


def test_not_before_its_time_and_the_grace(clock: Clock) -> None:
    turn = begun()
    beat(turn)
    clock.now += 60.0 + GRACE - 0.1
    assert not turn.overdue(GRACE)


def test_not_one_that_waits_for_brokers(clock: Clock) -> None:
    """A slow link is not the task's fault; the lease gives up by itself."""
    turn = begun()
    beat(turn)
    for second in range(90):
        clock.now += 1.0
        beat(turn, waits=second)
        assert not turn.overdue(GRACE)
    clock.now += GRACE + 0.1
    assert turn.overdue(GRACE)
