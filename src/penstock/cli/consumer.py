"""`penstock consumer`: list, delete and move named consumers, and say how long they are kept."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.brokers import BootstrapServers, CommandConfig, reached
from penstock.cli.completion import topic_names
from penstock.cli.output import Format, print_json_lines, print_table, say
from penstock.cli.streams import ConsumerName, Output, TopicName, examples, usage
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.consumers.directory import Directory, Listed
    from penstock.consumers.entries import Place
    from penstock.consumers.offset import Offset

app = typer.Typer(help="List, delete and move named consumers.", no_args_is_help=True)


def _directory(bootstrap_servers: str | None, command_config: Path | None) -> Directory:
    from penstock.consumers.directory import Directory

    return Directory(reached(bootstrap_servers, command_config))


@app.command("list")
def list_consumers(
    *,
    output: Output = Format.TABLE,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """List the named consumers: the offset they read next, and how much they have not read yet.

    TTL is how long a consumer is still kept if nothing is heard of it any more; "-" is for ever.
    """
    found = _directory(bootstrap_servers, command_config).listed()
    present = datetime.now(UTC).timestamp() * 1000
    if output is Format.JSON:
        print_json_lines(each.facts() for each in found)
    elif not found:
        say("No consumers found")
    else:
        headings = ["Consumer", "Topic", "Partition", "Offset", "Lag", "TTL", "Last seen"]
        print_table(headings, [_row(each, present) for each in found])


def _row(listed: Listed, present: float) -> list[str]:
    from penstock.consumers.times import in_words

    left = None if listed.expires is None else (listed.expires - present) / 1000
    return [
        listed.place.name,
        listed.place.topic,
        str(listed.place.partition),
        str(listed.offset),
        str(listed.lag),
        "-" if left is None else in_words(left),
        f"{in_words((present - listed.seen) / 1000)} ago",
    ]


@app.command(
    "delete",
    epilog=examples(
        "penstock consumer delete billing",
        "penstock consumer delete billing -t orders -p 0",
    ),
)
def delete(
    name: ConsumerName,
    *,
    topic: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--topic",
            metavar="TOPIC",
            help="Only of this topic.",
            autocompletion=topic_names,
            show_default=False,
        ),
    ] = None,
    partition: Annotated[
        int | None,
        typer.Option("-p", "--partition", min=0, help="Only this partition.", show_default=False),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also while it reads, which ends its right to commit."),
    ] = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Forget where a consumer stands: the next of its name starts afresh."""
    directory = _directory(bootstrap_servers, command_config)
    deleted = directory.delete(name, topic=topic, partition=partition, force=force)
    if not deleted:
        where = f' of topic "{topic}"' if topic else ""
        where += f' on partition "{partition}"' if partition is not None else ""
        raise UserError(
            f'there is no consumer "{name}"{where}. `penstock consumer list` lists them.'
        )
    _say_deleted(deleted)


def _say_deleted(places: Iterable[Place]) -> None:
    for place in places:
        say(f'consumer "{place.name}" on partition "{place.partition}" deleted')


@app.command(
    "reset",
    epilog=examples(
        "penstock consumer reset billing orders -B",
        "penstock consumer reset billing orders --to-time 2h",
        "penstock consumer reset billing orders -p 0 --to-offset 17",
    ),
)
def reset(
    name: ConsumerName,
    topic: TopicName,
    *,
    beginning: Annotated[
        bool, typer.Option("-B", "--beginning", help="To the first record that is there.")
    ] = False,
    head: Annotated[
        int | None,
        typer.Option(
            "-H", "--head", metavar="N", min=0, help="To N after the first.", show_default=False
        ),
    ] = None,
    tail: Annotated[
        int | None,
        typer.Option("-T", "--tail", metavar="N", min=0, help="To the last N.", show_default=False),
    ] = None,
    to_offset: Annotated[
        int | None,
        typer.Option("--to-offset", metavar="N", min=0, help="To this offset.", show_default=False),
    ] = None,
    to_time: Annotated[
        str | None,
        typer.Option(
            "--to-time",
            metavar="TIME",
            help="To the first record at or after a time: ISO 8601, or how long ago (10m, 2h, 1d).",
            show_default=False,
        ),
    ] = None,
    to_end: Annotated[bool, typer.Option("--to-end", help="To what is written next.")] = False,
    partition: Annotated[
        list[int] | None,
        typer.Option(
            "-p",
            "--partition",
            min=0,
            help="Only this partition; may be given again.",
            show_default=False,
        ),
    ] = None,
    take_over: Annotated[
        bool,
        typer.Option("--take-over", help="Also while it reads, which ends its right to commit."),
    ] = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Have a consumer go on elsewhere; it need not exist yet."""
    with usage():
        offset = _target(
            beginning=beginning,
            head=head,
            tail=tail,
            to_offset=to_offset,
            to_time=to_time,
            to_end=to_end,
        )
        moved = _directory(bootstrap_servers, command_config).reset(
            name, topic, offset, partitions=partition or (), take_over=take_over
        )
    for place, at in moved.items():
        say(f'consumer "{name}" on partition "{place.partition}" goes on at offset {at}')


def _target(
    *,
    beginning: bool,
    head: int | None,
    tail: int | None,
    to_offset: int | None,
    to_time: str | None,
    to_end: bool,
) -> Offset:
    """Where to; wrong usage unless exactly one of them is given."""
    from penstock.consumers.offset import Offset
    from penstock.consumers.times import parse_time

    given: list[Offset] = [
        *([Offset.beginning()] if beginning else ()),
        *([Offset.from_beginning(head)] if head is not None else ()),
        *([Offset.from_end(tail)] if tail is not None else ()),
        *([Offset.absolute(to_offset)] if to_offset is not None else ()),
        *([Offset.at(parse_time(to_time))] if to_time is not None else ()),
        *([Offset.end()] if to_end else ()),
    ]
    if len(given) != 1:
        raise typer.BadParameter("Give one of -B, -H, -T, --to-offset, --to-time and --to-end.")
    return given[0]


@app.command("update")
def update(
    name: ConsumerName,
    *,
    ttl: Annotated[
        str,
        typer.Option(
            "--ttl",
            metavar="DURATION",
            help="Forget it when it was not seen for so long: 30s, 10m, 12h, 7d; none leaves that "
            "to its topics.",
        ),
    ],
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Change how long a consumer is kept."""
    from penstock.consumers.times import parse_ttl

    with usage():
        ttl_ms = parse_ttl(ttl)
    _directory(bootstrap_servers, command_config).keep_for(name, ttl_ms)
    say(f'consumer "{name}" updated')


@app.command("sweep")
def sweep(
    *, bootstrap_servers: BootstrapServers = None, command_config: CommandConfig = None
) -> None:
    """Remove what is left of consumers that have expired or whose topic is gone.

    They are not listed any more in any case; this frees what they take up in Kafka.
    """
    troubles: set[str] = set()
    swept = _directory(bootstrap_servers, command_config).sweep(troubles.add)
    if not swept and not troubles:
        say("Nothing to sweep")
    _say_deleted(swept)
    if troubles:
        first, *more = sorted(troubles)
        others = f" And {len(more)} more." if more else ""
        raise UserError(f"not everything could be removed: {first}{others}")
