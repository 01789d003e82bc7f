"""Where to begin in a partition."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from penstock.consumers.errors import InvalidConsumer


class Kind(StrEnum):
    """What an offset counts from."""

    ABSOLUTE = "absolute"
    BEGINNING = "beginning"
    END = "end"
    TIME = "time"


@dataclass(frozen=True)
class Offset:
    """A place in every partition of a topic, to be looked up when reading begins."""

    kind: Kind
    n: int = 0

    @staticmethod
    def beginning() -> Offset:
        """The first record that the log still has."""
        return Offset(Kind.BEGINNING)

    @staticmethod
    def end() -> Offset:
        """Only what is written from now on."""
        return Offset(Kind.END)

    @staticmethod
    def absolute(n: int) -> Offset:
        """The record with this very offset."""
        return _counted(Kind.ABSOLUTE, n)

    @staticmethod
    def from_beginning(n: int) -> Offset:
        """``n`` after the first; the end if there are not as many."""
        return _counted(Kind.BEGINNING, n)

    @staticmethod
    def from_end(n: int) -> Offset:
        """The last ``n`` records; all if there are not as many. Beyond 10,000, or where they are
        not found soon, offsets are counted, of which markers of transactions have one, too."""
        return _counted(Kind.END, n)

    @staticmethod
    def at(time: datetime | int) -> Offset:
        """The first record at or after a time, which may be given in milliseconds."""
        milliseconds = round(time.timestamp() * 1000) if isinstance(time, datetime) else time
        return _counted(Kind.TIME, milliseconds)

    def __str__(self) -> str:
        if self.kind is Kind.TIME:
            return f"time {self.n}"
        return f"offset {self.n}" if self.kind is Kind.ABSOLUTE else f"{self.kind} {self.n:+}"


def _counted(kind: Kind, n: int) -> Offset:
    if n < 0:
        raise ValueError(f"an offset cannot be counted by {n}: give 0 or more")
    return Offset(kind, n)


BEGINNING = Offset.beginning()
_BY_NAME = {"beginning": BEGINNING, "end": Offset.end()}


def chosen_offset(given: Offset | str, option: str) -> Offset:
    """An offset, or one of the two that have a name; InvalidConsumer if it is neither."""
    if isinstance(given, Offset):
        return given
    found = _BY_NAME.get(str(given))
    if found is None:
        raise InvalidConsumer(
            f"{option} is an Offset, or one of {', '.join(_BY_NAME)}, not {given!r}"
        )
    return found
