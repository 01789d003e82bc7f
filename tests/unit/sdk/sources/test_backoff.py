"""Pauses grow, are never too long, and end when a task is stopped."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sdk import Backoff, BackoffConfig, ConfigError

POSITIVE = st.floats(1e-4, 10.0)


@given(
    first=POSITIVE,
    more=st.floats(0.0, 10.0),
    factor=st.floats(1.0, 10.0),
    jitter=st.floats(0.0, 0.99),
    rand=st.floats(0.0, 0.999),
    pauses=st.integers(1, 50),
)
def test_no_pause_is_longer_than_the_longest(
    first: float, more: float, factor: float, jitter: float, rand: float, pauses: int
) -> None:
    config = BackoffConfig(first + more, first, factor, jitter)
    backoff = Backoff(config, lambda: rand)
    delays = [backoff.next_delay() for _ in range(pauses)]
    assert all(0 < delay <= config.max_delay for delay in delays)
    assert delays == sorted(delays)
    backoff.reset()
    assert backoff.next_delay() == delays[0]


def test_pauses_grow_to_five_seconds_unless_told_otherwise() -> None:
    backoff = Backoff(rand=lambda: 0.0)
    delays = [backoff.next_delay() for _ in range(20)]
    assert delays[:3] == [0.01, 0.02, 0.04]
    assert max(delays) == delays[-1] == 5.0


class Recorded(threading.Event):
    """Does not wait; remembers for how long it would have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return self.is_set()


def test_a_stop_ends_the_pauses() -> None:
    stopping = Recorded()
    backoff = Backoff(BackoffConfig(jitter=0.0, stopping=stopping))
    assert backoff.delay()
    assert backoff.delay()
    stopping.set()
    assert not backoff.delay()
    assert stopping.waits == [0.01, 0.02, 0.04]


@pytest.mark.parametrize(
    "wrong",
    [{"first_delay": 0}, {"first_delay": 6.0}, {"factor": 0.5}, {"jitter": 1.0}, {"jitter": -0.1}],
)
def test_a_profile_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        BackoffConfig(**wrong)
