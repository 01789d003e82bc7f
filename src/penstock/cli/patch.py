"""`penstock patch`: change a connector's config or offsets, or a logger's level."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.altering import alter_offsets
from penstock.cli.commands import group
from penstock.cli.completion import connector_names, level_names
from penstock.cli.connector_names import ConnectorName, meant
from penstock.cli.discovery import Url, connect
from penstock.cli.files import parse_object, read_json
from penstock.cli.get import LoggerName
from penstock.cli.near_misses import tell_near_misses
from penstock.cli.output import Format, Output, count_of, print_objects, say
from penstock.cli.streams import key_values

app = group("Change configs, offsets or log levels.")

Entry = dict[str, Any]


@app.command("connector")
def patch_connector(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|KEY=VALUE",
            help="Connectors, by name or pattern, and what to change: tasks.max=2.",
            autocompletion=connector_names,
        ),
    ],
    *,
    remove: Annotated[
        list[str] | None,
        typer.Option("-r", "--remove", metavar="KEY", help="Remove this key; may be given again."),
    ] = None,
    url: Url = None,
) -> None:
    """Change some keys of connectors' configs; the other keys stay as they are."""
    changes: dict[str, str | None] = dict(key_values("a change", filter(_is_change, what)))
    changes |= dict.fromkeys(remove or ())
    names = [each for each in what if not _is_change(each)]
    if not names or not changes:
        raise typer.BadParameter("give a connector and what to change: orders tasks.max=2")
    with connect(url) as client:
        for name in meant(client, names):
            config = client.patch_config(name, changes)["config"]
            say(f"Connector {name} updated.")
            tell_near_misses(client, {key: config[key] for key in changes if key in config}, config)


def _is_change(given: str) -> bool:
    return "=" in given


@app.command("offsets")
def patch_offsets(
    name: ConnectorName,
    *,
    url: Url = None,
    source_partition: Annotated[
        str | None,
        typer.Option(help="A source's partition, JSON as `get offsets` shows it."),
    ] = None,
    source_offset: Annotated[
        str | None, typer.Option(help="Its new offset, JSON; null forgets it.")
    ] = None,
    kafka_topic: Annotated[str | None, typer.Option(help="A sink's topic.")] = None,
    kafka_partition: Annotated[int | None, typer.Option(min=0, help="Its partition.")] = None,
    kafka_offset: Annotated[
        str | None, typer.Option(help="The next offset to take from it; null forgets it.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "-f", "--file", help="JSON, as `get offsets -o json` prints it; - is standard input."
        ),
    ] = None,
) -> None:
    """Set offsets of a stopped connector.

    Give one source partition, one topic partition of a sink, or a file. Other partitions stay.
    """
    source = (source_partition, source_offset)
    sink = (kafka_topic, kafka_partition, kafka_offset)
    given = [way for way in (source, sink, (file,)) if any(part is not None for part in way)]
    if len(given) != 1 or None in given[0]:
        raise typer.BadParameter(
            "give --source-partition and --source-offset; or --kafka-topic, --kafka-partition "
            "and --kafka-offset; or -f"
        )
    entries = _from_file(file) if file else _from_options(source, sink)
    with connect(url) as client:
        message = alter_offsets(client, name, entries)
    say(message)


def _from_file(file: Path) -> list[Entry]:
    """A list of entries, or the REST API's object that has them."""
    content = read_json(file)
    entries = content.get("offsets") if isinstance(content, dict) else content
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise typer.BadParameter(
            f'{file} holds no list of objects such as {{"partition": {{}}, "offset": {{}}}}'
        )
    return entries


def _from_options(
    source: tuple[str | None, str | None], sink: tuple[str | None, int | None, str | None]
) -> list[Entry]:
    if source[0] is not None and source[1] is not None:
        partition = parse_object(source[0], "--source-partition")
        return [{"partition": partition, "offset": _offset(source[1])}]
    topic, number, offset = sink
    partition = {"kafka_topic": topic, "kafka_partition": number}
    # Sent as it was typed: the worker reads numbers in text, and knows best what is none.
    return [
        {"partition": partition, "offset": None if offset == "null" else {"kafka_offset": offset}}
    ]


def _offset(text: str) -> Entry | None:
    return None if text.strip() == "null" else parse_object(text, "--source-offset")


@app.command("logger")
def patch_logger(
    name: LoggerName,
    *,
    level: Annotated[
        str,
        typer.Option(
            "-l",
            "--level",
            help="TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF.",
            autocompletion=level_names,
            show_default=False,
        ),
    ],
    url: Url = None,
    output: Output = Format.TABLE,
) -> None:
    """Change the level of a logger and of those below it, until the worker ends."""
    with connect(url) as client:
        changed = client.set_logger_level(name, level)
    if print_objects(output, ({"name": each, "level": level.upper()} for each in changed)):
        return
    say(f"Logger {name} is at {level.upper()}; {count_of(len(changed), 'logger')} changed.")
