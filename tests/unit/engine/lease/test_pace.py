"""How large transactions become on links of several kinds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.engine.lease.pace import LEAST, START, TARGET, Pace

Link = Callable[[int], float]
"""How long a commit of so many bytes takes; its rounds are what one of none takes."""


def fast(size: int) -> float:
    return 0.01 + size / 200e6


def slow(size: int) -> float:
    return 0.01 + size / 300e3


def distant(size: int) -> float:
    return 1.2 + size / 200e6


def distant_and_slow(size: int) -> float:
    return 1.2 + size / 300e3


def after(commits: int, link: Link, pace: Pace | None = None) -> Pace:
    """What was learned from so many transactions, each as large as it may be."""
    pace = pace or Pace()
    for _ in range(commits):
        size = pace.most_bytes
        pace.learn(size, commit=link(size), rounds=0.75 * link(0), whole=link(size))
    return pace


def test_the_first_transaction_is_small() -> None:
    assert slow(Pace().most_bytes) < 1.0


@pytest.mark.parametrize(("link", "commits"), [(fast, 7), (distant, 12)])
def test_on_a_fast_link_they_are_large_after_a_few(link: Link, commits: int) -> None:
    """Over a long way, too: rounds take as long for a small transaction."""
    assert after(commits, link).most_bytes >= 32 * 1024 * 1024


@pytest.mark.parametrize("link", [slow, distant_and_slow])
def test_on_a_slow_link_they_stay_at_about_half_a_second(link: Link) -> None:
    pace = Pace()
    for commits in range(200):
        after(1, link, pace)
        if commits > 10:
            assert link(pace.most_bytes) - link(0) <= 2.5 * TARGET
            assert pace.most_bytes >= LEAST


def test_the_first_commit_on_a_slow_link_is_not_taken_for_round_trips() -> None:
    assert after(1, slow).most_bytes <= START // 2


def test_a_fast_link_that_becomes_slow_is_noticed_within_some_transactions() -> None:
    pace = after(10, fast)
    assert slow(after(4, slow, pace).most_bytes) <= 2.5 * TARGET


def test_a_link_that_becomes_fast_again_is_noticed_as_well() -> None:
    pace = after(10, slow)
    assert after(60, fast, pace).most_bytes >= 32 * 1024 * 1024


def test_what_came_to_nothing_after_a_long_time_was_too_large() -> None:
    pace = Pace(most_bytes=32 * 1024 * 1024, round_seconds=0.01)
    pace.fail(pace.most_bytes, commit=60.0, whole=61.0)
    assert pace.most_bytes <= 8 * 1024 * 1024


def test_what_came_to_nothing_at_once_tells_nothing() -> None:
    pace = Pace(round_seconds=0.01)
    pace.fail(START, commit=0.02, whole=1.0)
    assert pace == Pace(round_seconds=0.01)


def test_a_trickle_tells_nothing() -> None:
    pace = Pace()
    for _ in range(1000):
        pace.learn(100, commit=0.01, rounds=0.01, whole=1.0)
    assert pace.most_bytes == START


def test_one_interruption_is_made_up_for_by_what_follows() -> None:
    pace = after(7, fast)
    pace.learn(pace.most_bytes, commit=5.0, rounds=4.9, whole=5.0)
    assert after(20, fast, pace).most_bytes >= 32 * 1024 * 1024


class Quota:
    """What a broker does that lets so many bytes a second pass, on average over ten seconds."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._now = 0.0
        self._passed: list[tuple[float, int]] = []

    def __call__(self, size: int) -> float:
        """How long the commit of so much takes: until the average is what it may be."""
        self._passed.append((self._now, size))
        recent = sum(size for at, size in self._passed if at > self._now - 10)
        seconds = 0.05 + max(0.0, recent / self._rate - 10)
        self._now += seconds
        return seconds


def test_what_a_quota_lets_pass_at_once_is_not_taken_for_what_the_link_takes() -> None:
    pace, quota, took = Pace(), Quota(300e3), list[float]()
    while sum(took) < 120:
        size = pace.most_bytes
        took.append(seconds := quota(size))
        pace.learn(size, commit=seconds, rounds=seconds, whole=seconds)
    settled = [seconds for at, seconds in enumerate(took) if sum(took[:at]) > 30]
    assert sum(seconds < 2 for seconds in settled) > 0.9 * len(settled)
    assert max(settled) < 5
