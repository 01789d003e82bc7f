"""`penstock patch`: move a connector's offsets; change a logger's level."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.altering import alter_offsets
from penstock.cli.completion import level_names
from penstock.cli.discovery import Url, connect
from penstock.cli.files import parse_object, read_object
from penstock.cli.get import ConnectorName, LoggerName
from penstock.cli.output import Format, Output, print_json, say

app = typer.Typer(
    help="Change the offsets of a connector, or the level of a logger.", no_args_is_help=True
)

Entry = dict[str, Any]


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
            "-f", "--file", help='JSON: {"offsets": [{"partition": {}, "offset": {}}]}; - is stdin.'
        ),
    ] = None,
) -> None:
    """Move a stopped connector: set the offsets of some of its partitions.

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
    entries = read_object(file).get("offsets")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise typer.BadParameter(f'{file} holds no list "offsets" of objects')
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
    """Change the level of a logger and of those below it, at once and until the worker ends."""
    with connect(url) as client:
        changed = client.set_logger_level(name, level)
    if output is Format.JSON:
        print_json(changed)
    else:
        say(f"Logger {name} is at {level.upper()}; {len(changed)} loggers have changed.")
