"""`penstock consumer`: list, delete and move named consumers, and say how long they are kept."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.asking import Yes, ask
from penstock.cli.brokers import BootstrapServers, CommandConfig, reached
from penstock.cli.commands import group
from penstock.cli.completion import topic_names
from penstock.cli.names import chosen
from penstock.cli.output import Format, Output, print_objects, print_table, say
from penstock.cli.streams import ConsumerName, ConsumerNames, TopicName, examples, usage
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.consumers.directory import Directory, Listed
    from penstock.consumers.offset import Offset
    from penstock.consumers.registry.entries import RegistryKey

app = group("List, delete and move named consumers.")


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

    TTL is how long an inactive consumer is still kept; "-" is for ever.
    """
    found = _directory(bootstrap_servers, command_config).listed()
    present = datetime.now(UTC).timestamp() * 1000
    if print_objects(output, (each.facts() for each in found)):
        return
    if not found:
        say("No consumers found")
    else:
        headings = ["Consumer", "Topic", "Partition", "Offset", "Lag", "TTL", "Last seen"]
        print_table(headings, [_row(each, present) for each in found])


def _row(listed: Listed, present: float) -> list[str]:
    from penstock.consumers.times import in_words

    left = None if listed.expires is None else (listed.expires - present) / 1000
    return [
        listed.key.name,
        listed.key.topic,
        str(listed.key.partition),
        str(listed.offset),
        str(listed.lag),
        "-" if left is None else in_words(left),
        f"{in_words((present - listed.seen) / 1000)} ago",
    ]


@app.command(
    "delete",
    epilog=examples(
        "penstock consumer delete billing",
        "penstock consumer delete 'test-*' --yes",
        "penstock consumer delete billing -t orders -p 0",
    ),
)
def delete(
    names: ConsumerNames,
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
        typer.Option("--force", help="Even while it reads; it can then no longer commit."),
    ] = False,
    yes: Yes = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Delete consumers: the next reader of that name starts afresh.

    Asks first if it runs on a terminal.
    """
    directory = _directory(bootstrap_servers, command_config)
    meant = chosen(names, directory.names, "consumer")
    ask(f"Delete {', '.join(meant)}?", yes=yes)
    for name in meant:
        _delete(directory, name, topic, partition, force=force)


def _delete(
    directory: Directory, name: str, topic: str | None, partition: int | None, *, force: bool
) -> None:
    deleted = directory.delete(name, topic=topic, partition=partition, force=force)
    if not deleted:
        where = f' of topic "{topic}"' if topic else ""
        where += f' on partition "{partition}"' if partition is not None else ""
        raise UserError(
            f'there is no consumer "{name}"{where}. `penstock consumer list` lists them.'
        )
    _say_deleted(deleted)


def _say_deleted(keys: Iterable[RegistryKey]) -> None:
    for key in keys:
        say(f'consumer "{key.name}" on partition "{key.partition}" deleted')


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
        typer.Option("--take-over", help="Even while it reads; it can then no longer commit."),
    ] = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Move a consumer to another position; it need not exist yet."""
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
    for key, at in moved.items():
        say(f'consumer "{name}" on partition "{key.partition}" goes on at offset {at}')


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
            help="Delete it when it was not active for this long: 30s, 10m, 12h, 7d; none leaves "
            "that to its topics.",
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

    They are no longer listed in any case; this frees what they use in Kafka.
    """
    troubles: set[str] = set()
    swept = _directory(bootstrap_servers, command_config).sweep(troubles.add)
    if not swept and not troubles:
        say("Nothing to sweep")
    _say_deleted(swept)
    if troubles:
        first, *more = sorted(troubles)
        others = f" And {len(more)} more." if more else ""
        raise UserError(f"not everything could be removed: {first}{others}").advising(
            "Remove the cause, then run `penstock consumer sweep` again."
        )
