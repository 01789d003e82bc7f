"""When a FAILED connector is restarted by itself: less and less often, then never again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

LONGEST_MINUTES = 60


def interval(restarts: int) -> timedelta:
    """How long to wait after so many restarts: 0, 2, 6, 12, 20, ... 60 minutes."""
    return timedelta(minutes=min(restarts * restarts + restarts, LONGEST_MINUTES))


def is_due(spec: dict[str, Any], record: dict[str, Any], now: datetime) -> bool:
    """Whether to restart now what has FAILED. ``record`` is status.autoRestart, maybe empty."""
    wanted = spec.get("autoRestart") or {}
    if not wanted.get("enabled", False):
        return False
    count = int(record.get("count", 0))
    most = wanted.get("maxRestarts")
    return (most is None or count < most) and _passed(record, count, now)


def is_exhausted(spec: dict[str, Any], record: dict[str, Any]) -> bool:
    """Whether as many restarts were made as are allowed."""
    wanted = spec.get("autoRestart") or {}
    most = wanted.get("maxRestarts")
    return bool(wanted.get("enabled")) and most is not None and int(record.get("count", 0)) >= most


def is_forgotten(record: dict[str, Any], now: datetime) -> bool:
    """Whether a connector that works has done so long enough to count from zero again."""
    return bool(record) and _passed(record, int(record.get("count", 0)), now)


def _passed(record: dict[str, Any], count: int, now: datetime) -> bool:
    last = record.get("lastRestartTimestamp")
    if not last:
        return True
    return now - datetime.fromisoformat(last) >= interval(count)
