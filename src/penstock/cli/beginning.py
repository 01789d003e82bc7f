"""Where `penstock consume` begins, as its options say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from penstock.cli.streams import refuse_together, usage

if TYPE_CHECKING:
    from penstock.consumers import Offset
    from penstock.kafka.clients import Connection


@dataclass(frozen=True)
class Beginning:
    """A place to begin at."""

    offset: Offset
    words: str
    """The place, for a person."""
    option: str = ""
    """The option that says so; empty if none does."""


def beginning_of(
    *,
    beginning: bool,
    head: int | None,
    tail: int | None,
    start: int | None,
    since: str | None,
    end: int | None,
) -> Beginning:
    """What the options mean; wrong usage if they exclude each other."""
    refuse_together(
        ("-B", beginning),
        ("-H", head is not None),
        ("-T", tail is not None),
        ("--start", start is not None),
        ("--since", since is not None),
    )
    if start is not None and end is not None and end < start:
        raise typer.BadParameter(f"--end {end} lies before --start {start}: nothing would be read.")
    from penstock.consumers import Offset

    if beginning:
        return Beginning(Offset.beginning(), "at the beginning", "-B")
    if head is not None:
        return Beginning(Offset.from_beginning(head), f"{head} from the beginning", "-H")
    if tail is not None:
        return Beginning(Offset.from_end(tail), f"{tail} from the end", "-T")
    if start is not None:
        return Beginning(Offset.absolute(start), f"at offset {start}", "--start")
    if since is not None:
        return _since(since)
    return Beginning(Offset.beginning(), "at the beginning")


def refuse_behind(
    end: int, begin: Beginning, connection: Connection, topic: str, partitions: Iterable[int]
) -> None:
    """Wrong usage if, everywhere, reading would begin behind its end.

    Of a read without a name: one that has a name and has come so far already is simply done.
    """
    from penstock.consumers.reading.starting import Ranges
    from penstock.consumers.topic import find_topic
    from penstock.kafka import clients

    admin = clients.admin(connection)
    ranges = Ranges(connection, admin, find_topic(admin, topic, partitions))
    first = min(ranges.offsets(begin.offset, ranges.first).values())
    if first > end:
        raise typer.BadParameter(
            f"--end {end} lies before the first record to read, {begin.words}, which is offset "
            f"{first}: nothing would be read."
        )


def _since(text: str) -> Beginning:
    from penstock.consumers import Offset
    from penstock.consumers.times import parse_time

    with usage():
        time = parse_time(text)
    return Beginning(Offset.at(time), f"at {time.isoformat(timespec='seconds')}", "--since")
