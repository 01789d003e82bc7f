"""Durations and times as people write them."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.consumers.errors import InvalidConsumer
from penstock.consumers.times import in_words, parse_duration, parse_time, parse_ttl

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("10m", 600),
        ("10 min", 600),
        ("12h", 43_200),
        ("7d", 604_800),
        ("1w", 604_800),
        ("250ms", 0.25),
        (" 1.5H ", 5400),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)
    assert parse_ttl(text) == seconds * 1000


@pytest.mark.parametrize("text", ["", "10", "0s", "-1h", "h", "1y", "1h30m", "9999999999d", "none"])
def test_what_is_no_duration_says_how_to_write_one(text: str) -> None:
    with pytest.raises(InvalidConsumer, match="30s, 10m, 12h or 7d"):
        parse_duration(text)


def test_no_time_to_live() -> None:
    assert parse_ttl("none") is None
    with pytest.raises(InvalidConsumer, match="or none"):
        parse_ttl("never")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2h", NOW - timedelta(hours=2)),
        ("2026-02-28T10:00:00Z", datetime(2026, 2, 28, 10, tzinfo=UTC)),
        ("2026-02-28T10:00+02:00", datetime(2026, 2, 28, 8, tzinfo=UTC)),
        ("2026-02-28 10:00", datetime(2026, 2, 28, 10).astimezone()),
        ("2026-02-28", datetime(2026, 2, 28).astimezone()),
    ],
)
def test_times(text: str, time: datetime) -> None:
    found = parse_time(text, NOW)
    assert found == time
    assert found.tzinfo is not None


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "12:00", "1234", "0001-01-01", "0s"])
def test_what_is_no_time_says_how_to_write_one(text: str) -> None:
    with pytest.raises(InvalidConsumer, match="write"):
        parse_time(text, NOW)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 sec"),
        (0.4, "0 sec"),
        (59, "59 sec"),
        (60, "1 min"),
        (86_399, "23 hr"),
        (200_000, "2 day"),
    ],
)
def test_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@given(st.text(max_size=12))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidConsumer):
        assert parse_time(text, NOW).tzinfo is not None
