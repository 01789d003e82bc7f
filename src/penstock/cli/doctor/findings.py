"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How it stands; only what failed keeps Penstock from running."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Finding:
    """One line of the report: what was looked at, what was found, what to do about it."""

    name: str
    status: Status
    found: str
    advice: str = ""


def ok(name: str, found: str) -> Finding:
    """Nothing to do."""
    return Finding(name, Status.OK, found)


def warning(name: str, found: str, advice: str) -> Finding:
    """Penstock runs, but not as well as it could, or not for long."""
    return Finding(name, Status.WARNING, found, advice)


def failed(name: str, found: str, advice: str) -> Finding:
    """Penstock does not run until this is fixed."""
    return Finding(name, Status.FAILED, found, advice)


def worst(findings: list[Finding]) -> Status:
    """The status of the whole."""
    order = list(Status)
    return max((finding.status for finding in findings), key=order.index, default=Status.OK)
