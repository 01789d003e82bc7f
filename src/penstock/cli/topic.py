"""`penstock topic`: make, describe, list and delete topics."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.brokers import BootstrapServers, CommandConfig, reached
from penstock.cli.completion import topic_names
from penstock.cli.output import Format, print_json_lines, print_table, say, warn
from penstock.cli.streams import Output, TopicName, examples, key_values, usage

if TYPE_CHECKING:
    from penstock.consumers.entries import Place
    from penstock.consumers.topics_admin import Described, TopicsAdmin

app = typer.Typer(help="Make, describe, change, list and delete topics.", no_args_is_help=True)

NewTopicName = Annotated[str, typer.Argument(metavar="TOPIC", help="Name of the topic to make.")]
TopicNames = Annotated[
    list[str],
    typer.Argument(metavar="TOPIC...", help="Names of the topics.", autocompletion=topic_names),
]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="KEY=VALUE",
        help="A setting of the topic, such as retention.ms=3600000; may be given again.",
        show_default=False,
    ),
]
ConsumerTtl = Annotated[
    str | None,
    typer.Option(
        "--consumer-ttl",
        metavar="DURATION",
        help="Forget named consumers of this topic that were not seen for so long and have no TTL "
        "of their own: 30s, 10m, 12h, 7d; none keeps them.",
        show_default=False,
    ),
]


def _admin(bootstrap_servers: str | None, command_config: Path | None) -> TopicsAdmin:
    from penstock.consumers.topics_admin import TopicsAdmin

    return TopicsAdmin(reached(bootstrap_servers, command_config))


def _ttl(text: str) -> int | None:
    from penstock.consumers.times import parse_ttl

    with usage():
        return parse_ttl(text)


@app.command(
    "create",
    epilog=examples(
        "penstock topic create orders",
        "penstock topic create orders -p 6 --config retention.ms=604800000 --consumer-ttl 30d",
    ),
)
def create(
    topic: NewTopicName,
    *,
    partitions: Annotated[
        int,
        typer.Option(
            "-p", "--partitions", "--partition", min=1, help="How many partitions it has."
        ),
    ] = 1,
    replication: Annotated[
        int | None,
        typer.Option(
            "-r",
            "--replication",
            min=1,
            help="How many copies of it there are.",
            show_default="what the brokers say",
        ),
    ] = None,
    config: Config = None,
    consumer_ttl: ConsumerTtl = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="It is fine if the topic is there already.")
    ] = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Make a topic."""
    settings = dict(key_values("--config", config))
    ttl = None if consumer_ttl is None else _ttl(consumer_ttl)
    made = _admin(bootstrap_servers, command_config).create(
        topic,
        partitions=partitions,
        replication=replication or -1,
        config=settings,
        consumer_ttl_ms=ttl,
        if_not_exists=if_not_exists,
    )
    say(f'topic "{topic}" created' if made else f'topic "{topic}" exists already')


@app.command(
    "update",
    epilog=examples(
        "penstock topic update orders --consumer-ttl none",
        "penstock topic update orders --config retention.ms=",
    ),
)
def update(
    topic: TopicName,
    *,
    consumer_ttl: ConsumerTtl = None,
    config: Config = None,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Change how long a topic's consumers are kept, or settings of the topic.

    `--config KEY=` gives a setting its default again.
    """
    settings = dict(key_values("--config", config))
    if consumer_ttl is None and not settings:
        raise typer.BadParameter("Say what to change: --consumer-ttl or --config.")
    ttl = None if consumer_ttl is None else _ttl(consumer_ttl)
    admin = _admin(bootstrap_servers, command_config)
    if settings:
        admin.change(topic, settings)
    if consumer_ttl is not None:
        admin.directory.keep_consumers_of(topic, ttl)
    say(f'topic "{topic}" updated')


@app.command("describe")
def describe(
    topic: TopicName,
    *,
    output: Output = Format.TABLE,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Show a topic and its named consumers."""
    admin = _admin(bootstrap_servers, command_config)
    found = admin.describe(topic)
    ttl = admin.directory.ttl_of_topic(topic, found.id)
    places = admin.consumers(topic)
    if output is Format.JSON:
        more = {"consumer_ttl_ms": ttl, "consumers": _listed(places)}
        print_json_lines([{**asdict(found), **more}])
        return
    say("\n".join(_lines(found, ttl, places)))


def _row(topic: Described) -> list[str]:
    counts = [str(topic.partitions), str(topic.replication)]
    return [topic.name, *counts, topic.status, topic.reason]


def _listed(places: list[Place]) -> list[str]:
    return [f"{place.name}/{place.partition}" for place in places]


def _lines(topic: Described, ttl: int | None, places: list[Place]) -> list[str]:
    from penstock.consumers.times import in_words

    return [
        f"Name: {topic.name}",
        f"Partition Count: {topic.partitions}",
        f"Replication Factor: {topic.replication}",
        f"Status: {topic.status}",
        f"Reason: {topic.reason}".rstrip(),
        f"Consumer TTL: {'none' if ttl is None else in_words(ttl / 1000)}",
        "Consumers:",
        *(f"  - {consumer}" for consumer in _listed(places)),
    ]


@app.command("list")
def list_topics(
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Internal topics too: Kafka's and Penstock's own.")
    ] = False,
    output: Output = Format.TABLE,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """List the topics."""
    found = _admin(bootstrap_servers, command_config).listed(internal=every)
    if output is Format.JSON:
        print_json_lines(map(asdict, found))
    elif not found:
        say("No topics found")
    else:
        headings = ["Name", "Partitions", "Replicas", "Status", "Reason"]
        print_table(headings, map(_row, found))


@app.command("delete")
def delete(
    topics: TopicNames,
    *,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Do not ask; and delete internal topics, too.")
    ] = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Delete topics with all that is in them, and their named consumers.

    Asks first if it runs on a terminal.
    """
    admin = _admin(bootstrap_servers, command_config)
    admin.refuse_to_delete(topics, internal=force)
    for topic in topics:
        if places := admin.consumers(topic):
            warn(f'consumers of topic "{topic}" that go with it: {", ".join(_listed(places))}')
    if not (yes or force) and on_a_terminal():
        typer.confirm(f"Delete {', '.join(topics)}?", abort=True, err=True)
    for topic in topics:
        admin.delete(topic, internal=force, trouble=warn)
        say(f'topic "{topic}" deleted')


def on_a_terminal() -> bool:
    """Whether there is a person to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
