"""What a statement answers: as JSON in ksqlDB's shape, and as parts that can be printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Lines:
    """Text as it is."""

    text: str


@dataclass(frozen=True)
class Framed:
    """A result between two rules, as KLIP-7 prints it."""

    text: str


@dataclass(frozen=True)
class Grid:
    """A table; ``titled`` as KLIP-7 prints them, with headings in the middle of their columns."""

    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    titled: bool = False


Part = Lines | Framed | Grid


@dataclass(frozen=True)
class Result:
    """``entity`` has no statement text: who echoes it adds it, masked."""

    entity: dict[str, Any]
    parts: tuple[Part, ...]
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Rows:
    """The rows of a query, as they come. Closing the iterator ends the query."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Iterator[Sequence[Any]]
    note: str = ""
    """What to say after the last row."""


@dataclass(frozen=True)
class Printed:
    """Lines as they come: PRINT."""

    lines: Iterator[str]


Answer = Result | Rows | Printed


def message(text: str, kind: str = "currentStatus", **entity: Any) -> Result:
    """One column ``Message`` with one row."""
    return Result({"@type": kind, **entity, "message": text}, (Grid(("Message",), [[text]]),))


def framed(text: str, **entity: Any) -> Result:
    """``text`` between two rules."""
    return Result({"@type": "currentStatus", **entity, "message": text}, (Framed(text),))


def warning(text: str) -> Result:
    """What was asked for is so already."""
    return Result({"@type": "warning_entity", "message": text}, (Lines(f"Warning: {text}"),))
