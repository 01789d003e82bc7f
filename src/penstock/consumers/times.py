"""Durations and times as people write them: `10m`, `7d`, `2026-03-01T12:00`, `2h` ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from penstock.consumers.errors import InvalidConsumer

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
LONGEST = timedelta(days=36_500)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d|w)")
_STEPS = ((86_400, "day"), (3600, "hr"), (60, "min"), (1, "sec"))


def parse_duration(text: str) -> timedelta:
    """How long `30s`, `10m`, `12h` or `7d` is; InvalidConsumer says how to write it."""
    found = _DURATION.fullmatch(text.strip().lower())
    seconds = float(found[1]) * UNITS[found[2]] if found else 0.0
    if not 0 < seconds <= LONGEST.total_seconds():
        raise InvalidConsumer(f"{text!r} is not a duration: write 30s, 10m, 12h or 7d")
    return timedelta(seconds=seconds)


def parse_ttl(text: str) -> int | None:
    """Milliseconds of a duration; None for `none`."""
    if text.strip().lower() == "none":
        return None
    try:
        return max(1, round(parse_duration(text).total_seconds() * 1000))
    except InvalidConsumer:
        raise InvalidConsumer(
            f"{text!r} is not a TTL: write 30s, 10m, 12h or 7d, or none"
        ) from None


def parse_time(text: str, now: datetime | None = None) -> datetime:
    """A time in ISO 8601, or a duration that lies before ``now``.

    A time without an offset from UTC is in the time zone of this machine.
    """
    present = now or datetime.now(UTC)
    if _DURATION.fullmatch(text.strip().lower()):
        return present - parse_duration(text)
    try:
        given = datetime.fromisoformat(text.strip())
        return given.astimezone() if given.timestamp() >= 0 else _refused(text)
    except (ValueError, OverflowError, OSError):
        return _refused(text)


def _refused(text: str) -> datetime:
    raise InvalidConsumer(
        f"{text!r} is not a time: write it as 2026-03-01T12:00 or 2026-03-01T12:00Z, or how long "
        "ago it was: 10m, 2h, 1d"
    ) from None


def in_words(seconds: float) -> str:
    """A duration for a person, in its largest unit: `23 hr`, `20 min`, `3 sec`."""
    for size, unit in _STEPS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "0 sec"
