"""`penstock topic`: create, describe, list and delete topics."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.asking import Yes, ask
from penstock.cli.brokers import BootstrapServers, CommandConfig, reached
from penstock.cli.commands import group
from penstock.cli.completion import topic_names
from penstock.cli.names import chosen
from penstock.cli.output import Format, Output, print_objects, print_table, say, warn
from penstock.cli.streams import TopicName, examples, key_values, usage

if TYPE_CHECKING:
    from penstock.consumers.registry.entries import RegistryKey
    from penstock.consumers.topics_admin import Described, TopicsAdmin

app = group("Create, describe, change, list and delete topics.")

NewTopicName = Annotated[str, typer.Argument(metavar="TOPIC", help="Name of the new topic.")]
TopicNames = Annotated[
    list[str],
    typer.Argument(
        metavar="TOPIC",
        help="Names of the topics, or patterns: 'test-*'.",
        autocompletion=topic_names,
    ),
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
        help="Delete named consumers of this topic that were not active for this long and have no "
        "TTL of their own: 30s, 10m, 12h, 7d; none keeps them.",
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
        "penstock topic create orders -p 6 --consumer-ttl 30d",
        "penstock topic create orders --config retention.ms=604800000",
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
            help="How many replicas it has.",
            show_default="that of the brokers",
        ),
    ] = None,
    config: Config = None,
    consumer_ttl: ConsumerTtl = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="Do nothing if the topic already exists.")
    ] = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Create a topic."""
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
    say(f'topic "{topic}" created' if made else f'topic "{topic}" already exists')


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
    keys = admin.consumers(topic)
    more = {"consumer_ttl_ms": ttl, "consumers": _listed(keys)}
    if not print_objects(output, [{**asdict(found), **more}]):
        say("\n".join(_lines(found, ttl, keys)))


def _row(topic: Described) -> list[str]:
    counts = [str(topic.partitions), str(topic.replication)]
    return [topic.name, *counts, topic.status, topic.reason]


def _listed(keys: list[RegistryKey]) -> list[str]:
    return [f"{key.name}/{key.partition}" for key in keys]


def _lines(topic: Described, ttl: int | None, keys: list[RegistryKey]) -> list[str]:
    from penstock.consumers.times import in_words

    return [
        f"Name: {topic.name}",
        "Type: computed",  # which broker has which replica is never chosen by hand here
        f"Partition Count: {topic.partitions}",
        f"Replication Factor: {topic.replication}",
        "Ignore Rack Assignment: false",
        f"Status: {topic.status}",
        f"Reason: {topic.reason}".rstrip(),
        f"Consumer TTL: {'none' if ttl is None else in_words(ttl / 1000)}",
        "Consumers:",
        *(f"  - {consumer}" for consumer in _listed(keys)),
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
    if print_objects(output, map(asdict, found)):
        return
    if not found:
        say("No topics found")
    else:
        headings = ["Name", "Partitions", "Replicas", "Status", "Reason"]
        print_table(headings, map(_row, found))


@app.command("delete")
def delete(
    topics: TopicNames,
    *,
    yes: Yes = False,
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
    topics = chosen(topics, lambda: [each.name for each in admin.listed()], "topic")
    admin.refuse_to_delete(topics, internal=force)
    for topic in topics:
        if keys := admin.consumers(topic):
            warn(f'consumers of topic "{topic}" that go with it: {", ".join(_listed(keys))}')
    ask(f"Delete {', '.join(topics)}?", yes=yes or force)
    for topic in topics:
        admin.delete(topic, internal=force, trouble=warn)
        say(f'topic "{topic}" deleted')
