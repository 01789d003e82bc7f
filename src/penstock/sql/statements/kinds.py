"""Kinds of sources, joins and windows, by their words in statements."""

from __future__ import annotations

from enum import StrEnum


class SourceKind(StrEnum):
    """A stream has rows one after the other, a table one for each key."""

    STREAM = "STREAM"
    TABLE = "TABLE"


class JoinKind(StrEnum):
    """Which rows come out that are in no pair."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"


class WindowKind(StrEnum):
    """How the windows of groups lie in time."""

    TUMBLING = "TUMBLING"
    HOPPING = "HOPPING"
    SESSION = "SESSION"
