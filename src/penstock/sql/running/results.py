"""What a statement answers: as JSON in ksqlDB's shape, and as parts that can be printed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
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


class Stop:
    """Ends a query from another thread; the query looks at it between rows."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._hurry: Callable[[], object] = lambda: None

    def hurry(self, action: Callable[[], object]) -> None:
        """Have this done by ``set``, instead of what was said before: it ends a wait for rows."""
        self._hurry = action

    def set(self) -> None:
        """End the query: its rows end soon."""
        self._told.set()
        self._hurry()

    def is_set(self) -> bool:
        """Whether it was told to end."""
        return self._told.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait that long, or until it is told to end: whether it was."""
        return self._told.wait(seconds)


@dataclass(frozen=True)
class Rows:
    """The rows of a query, as they come. Closing the iterator ends the query."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Iterator[Sequence[Any]]
    note: str = ""
    """What to say after the last row."""
    stop: Stop = field(default_factory=Stop)
    warnings: Callable[[], Sequence[str]] = tuple
    """What else is to be told about the rows so far, such as records that were skipped."""


@dataclass(frozen=True)
class Printed:
    """Lines as they come: PRINT."""

    lines: Iterator[str]
    stop: Stop = field(default_factory=Stop)


Answer = Result | Rows | Printed


def message(text: str, kind: str = "currentStatus", **entity: Any) -> Result:
    """One column ``Message`` with one row."""
    return Result(_entity(text, kind, entity), (Grid(("Message",), [[text]]),))


def framed(text: str, kind: str = "currentStatus", **entity: Any) -> Result:
    """``text`` between two rules."""
    return Result(_entity(text, kind, entity), (Framed(text),))


def _entity(text: str, kind: str, more: dict[str, Any]) -> dict[str, Any]:
    if kind != "currentStatus":
        return {"@type": kind, **more, "message": text}
    query_id = more.pop("queryId", None)
    status = {"status": "SUCCESS", "message": text, "queryId": query_id}
    return {"@type": kind, **more, "commandStatus": status}


def warning(text: str) -> Result:
    """What was asked for is so already."""
    return Result({"@type": "warning_entity", "message": text}, (Lines(f"Warning: {text}"),))
