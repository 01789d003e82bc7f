"""The conditions of a status: which there are, and when each began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

Condition = dict[str, str]

LONGEST = 4096
"""Of a message: a worker's trace may be longer than a status should be."""


def stamp(moment: datetime) -> str:
    """A time as Kubernetes writes it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def ready() -> list[Condition]:
    """All is as wanted."""
    return [{"type": "Ready", "status": "True"}]


def not_ready(reason: str, message: str) -> list[Condition]:
    """It is not. In both forms: Kubernetes' ``Ready=False`` and Strimzi's ``NotReady=True``."""
    why = {"reason": reason, "message": message[:LONGEST]}
    return [
        {"type": "Ready", "status": "False", **why},
        {"type": "NotReady", "status": "True", **why},
    ]


def condition(kind: str, reason: str, message: str) -> Condition:
    """Something else that holds."""
    return {"type": kind, "status": "True", "reason": reason, "message": message[:LONGEST]}


def warning(reason: str, message: str) -> Condition:
    """Something that a person should see, though the resource may be ready."""
    return condition("Warning", reason, message)


def timed(
    conditions: Iterable[Condition], before: Sequence[Mapping[str, Any]], now: datetime
) -> list[Condition]:
    """With ``lastTransitionTime``: that of the same condition before, else now."""
    return [{**new, "lastTransitionTime": _since(new, before) or stamp(now)} for new in conditions]


def _since(new: Condition, before: Sequence[Mapping[str, Any]]) -> str:
    same = ("type", "status", "reason") if new["type"] == "Warning" else ("type", "status")
    for old in before:
        if all(old.get(key) == new.get(key) for key in same):
            return str(old.get("lastTransitionTime", ""))
    return ""
