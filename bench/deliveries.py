"""How long records take until all of them are visible in a topic, and whether all are there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from bench.topic import Contents, Topic
from penstock.kafka.topics import PartitionId

POLL_SECONDS = 0.02
CHECK_SECONDS = 1.0
QUIET_SECONDS = 2.0
LONGEST_SECONDS = 300.0

Ends = dict[PartitionId, int]


@dataclass(frozen=True)
class Delivery:
    """The times of one delivery, from the moment at which the request to start was answered."""

    records: int
    seconds: float
    first_visible_seconds: float
    steady_records_per_second: float | None
    """Between the first and the last time that records became visible; None if those are one."""

    @property
    def records_per_second(self) -> float:
        """All records over all of the time, start included."""
        return self.records / self.seconds

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {**asdict(self), "records_per_second": self.records_per_second}


class WrongContents(RuntimeError):  # noqa: N818 - named for what has happened
    """A side lost, repeated or changed records: its time means nothing."""


@dataclass(frozen=True)
class Expected:
    """What must be in the topic in the end."""

    records: int
    payload_bytes: int | None = None
    """None where the sides write the same in different forms."""

    def is_in(self, contents: Contents) -> bool:
        """Whether a topic holds just that."""
        sizes = (contents.payload_bytes, None)
        return contents.records == self.records and self.payload_bytes in sizes


def deliver(
    topic: Topic,
    expected: Expected,
    start: Callable[[], float],
    check: Callable[[], None],
    *,
    committed: bool,
) -> Delivery:
    """Call ``start``, which returns the moment it was answered, and time what follows.

    ``check`` is called about once a second and raises when the side has failed. Visible means
    below the last stable offset if ``committed``, else below the high watermark.
    """
    started = start()
    seen = _follow(topic, expected.records, check, committed=committed)
    contents = topic.read_back()
    if not expected.is_in(contents):
        raise WrongContents(f"topic {topic.name} holds {contents}, but {expected} was sent")
    return _delivery(started, seen, contents)


def _follow(
    topic: Topic, records: int, check: Callable[[], None], *, committed: bool
) -> list[tuple[float, Ends]]:
    """The moments at which the ends moved, until enough is there and they stay."""
    began = checked = time.perf_counter()
    seen = [(began, dict.fromkeys(topic.partitions, 0))]
    while not _settled(seen, records):
        time.sleep(POLL_SECONDS)
        ends, now = topic.ends(committed=committed), time.perf_counter()
        if ends != seen[-1][1]:
            seen.append((now, ends))
        if now - checked > CHECK_SECONDS:
            check()
            checked = now
        if now - began > LONGEST_SECONDS:
            raise TimeoutError(f"{records} records did not arrive within {LONGEST_SECONDS:g} s")
    return seen


def _settled(seen: list[tuple[float, Ends]], records: int) -> bool:
    """Transaction markers count as offsets too, so enough offsets are not yet all records."""
    moment, ends = seen[-1]
    return sum(ends.values()) >= records and time.perf_counter() - moment > QUIET_SECONDS


def _delivery(started: float, seen: list[tuple[float, Ends]], contents: Contents) -> Delivery:
    first_moment, first = seen[1]
    last_moment = next(moment for moment, ends in seen if _covers(ends, contents.after_last))
    later = contents.records - sum(first.values())
    span = last_moment - first_moment
    return Delivery(
        records=contents.records,
        seconds=last_moment - started,
        first_visible_seconds=first_moment - started,
        steady_records_per_second=later / span if span > 0 else None,
    )


def _covers(ends: Ends, after_last: Ends) -> bool:
    return all(ends[position] >= offset for position, offset in after_last.items())
