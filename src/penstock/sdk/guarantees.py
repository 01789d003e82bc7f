"""What a connector promises of every record, whatever is killed on the way."""

from __future__ import annotations

from enum import Enum


class Guarantee(Enum):
    """The value is how people are told."""

    EXACTLY_ONCE = "exactly once"
    """No record is lost, and none arrives twice: what a lease had not committed leaves no trace."""
    AT_LEAST_ONCE = "at least once"
    """No record is lost; what a lease had not committed may arrive again."""


def described(guarantee: Guarantee | None, limits: str) -> str:
    """As people are told, with what it depends on; nothing if it is not declared."""
    return " ".join(filter(None, (guarantee.value, limits))) if guarantee is not None else ""
