"""What a consumer is asked to do, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from operator import index
from typing import TypeVar

from penstock.consumers.errors import InvalidConsumer
from penstock.consumers.offset import BEGINNING, Offset
from penstock.consumers.slots import Slot

FLUSH_SECONDS = 10.0
LONGEST_NAME = 200
MOST_BYTES = 1_000_000_000
"""That the client lets one ask for."""


class Strategy(StrEnum):
    """Who says that a record is done."""

    AUTO = "auto"
    MANUAL = "manual"
    NONE = "none"
    """Nothing is committed: the stored position is read and stays as it is."""


class Gone(StrEnum):
    """What to do when the position to continue at is no longer in the log."""

    FAIL = "fail"
    EARLIEST = "earliest"
    LATEST = "latest"


class Isolation(StrEnum):
    """Which records of transactions are read."""

    COMMITTED = "read_committed"
    UNCOMMITTED = "read_uncommitted"


@dataclass(frozen=True)
class Options:
    """As ``Consumer`` takes them."""

    topic: str
    name: str | None = None
    partitions: frozenset[int] = frozenset()
    start: Offset = BEGINNING
    reset: Offset | None = None
    strategy: Strategy | None = None
    flush: float = FLUSH_SECONDS
    ttl: float | None = None
    when_gone: Gone = Gone.FAIL
    take_over: bool = False
    share: bool = False
    until_end: bool = False
    last: int | None = None
    """The offset to end with, in every partition."""
    max_bytes: int | None = None
    committed_only: bool = True
    security: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for wrong, text in self._mistakes():
            if wrong:
                raise InvalidConsumer(text)

    def _mistakes(self) -> list[tuple[bool, str]]:
        name = self.name or ""
        return [
            (not self.topic, "a topic is needed"),
            (self.name == "", "a consumer's name cannot be empty; leave it out to store nothing"),
            (len(name) > LONGEST_NAME, f"a consumer's name has at most {LONGEST_NAME} letters"),
            (not name.isprintable(), "a consumer's name can have no control characters"),
            (
                self.name is None and self.strategy not in (None, Strategy.NONE),
                "an offset strategy needs a consumer's name (name=, offset_consumer)",
            ),
            (self.name is None and self.ttl is not None, "a TTL needs a consumer's name"),
            (self.flush <= 0, "the flush interval must be above 0 seconds"),
            (self.ttl is not None and self.ttl <= 0, "a TTL must be above 0 seconds"),
            (self.last is not None and self.last < 0, "the offset to end with is 0 or more"),
            (self.share and self.name is None, "share=True needs a consumer's name"),
            (
                self.share and bool(self.partitions or self.take_over),
                "share=True cannot be combined with partitions or take_over",
            ),
            (
                self.share and (self.until_end or self.last is not None),
                "share=True cannot be combined with until_end or last",
            ),
            (
                self.share and self.reset is not None,
                "share=True cannot be combined with reset: use `penstock consumer reset` before",
            ),
            (
                self.share and not self.stores,
                "share=True cannot be combined with the strategy none",
            ),
            (
                self.max_bytes is not None and not 0 < self.max_bytes <= MOST_BYTES,
                f"max_bytes is 1 to {MOST_BYTES:,}",
            ),
            (any(p < 0 for p in self.partitions), "partitions are numbered from 0"),
        ]

    @property
    def management(self) -> Strategy:
        """Who says that a record is done: with a name it is automatic unless told."""
        if self.strategy is not None:
            return self.strategy
        return Strategy.NONE if self.name is None else Strategy.AUTO

    @property
    def stores(self) -> bool:
        """Whether positions are stored."""
        return self.management is not Strategy.NONE

    @property
    def slot(self) -> Slot:
        """What it holds in its group."""
        return Slot(self.topic, self.partitions)

    @property
    def ttl_ms(self) -> int | None:
        """The TTL as it is stored."""
        return None if self.ttl is None else max(1, round(self.ttl * 1000))


def seconds(duration: float | timedelta) -> float:
    """A duration given either way."""
    return duration.total_seconds() if isinstance(duration, timedelta) else float(duration)


Choice = TypeVar("Choice", bound=StrEnum)


def chosen(kind: type[Choice], value: str, option: str) -> Choice:
    """What was chosen for an option; InvalidConsumer if it is none of ``kind``."""
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(member.value for member in kind)
        raise InvalidConsumer(f"{option} is one of {allowed}, not {value!r}") from None


def chosen_partitions(given: object) -> frozenset[int]:
    """One, several, or all, of which there are none here: None, "all" and Python's own ``all``."""
    if given is None or given is all or (isinstance(given, str) and given == "all"):
        return frozenset()
    several = given if isinstance(given, Iterable) else [given]
    try:
        return frozenset(map(index, several))
    except TypeError:
        text = f"partitions are a number, several of them, or all, not {given!r}"
        raise InvalidConsumer(text) from None
