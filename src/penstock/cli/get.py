"""`penstock get`: lists."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from penstock.cli.completion import connector_names, logger_names
from penstock.cli.discovery import Url, connect
from penstock.cli.output import Format, Output, compact, print_json, print_table

app = typer.Typer(help="List connectors, offsets, plugins or loggers.", no_args_is_help=True)

ConnectorName = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the connector.", autocompletion=connector_names),
]
LoggerName = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Name of the logger: root, penstock.runtime, ...; connector.NAME is all that is "
        "logged about a connector.",
        autocompletion=logger_names,
    ),
]


@app.command("connectors")
def get_connectors(url: Url = None, output: Output = Format.TABLE) -> None:
    """List all connectors with their states."""
    with connect(url) as client:
        found = client.expanded("status", "info")
    if output is Format.JSON:
        print_json(found)
        return
    rows = [_row(name, entry) for name, entry in sorted(found.items())]
    print_table(["NAME", "TYPE", "STATE", "TASKS", "CLASS"], rows)


def _row(name: str, entry: dict[str, Any]) -> list[str]:
    status, config = entry["status"], entry["info"]["config"]
    tasks = [task["state"] for task in status["tasks"]]
    running = f"{tasks.count('RUNNING')}/{len(tasks)}"
    failed = f" {tasks.count('FAILED')} FAILED" if "FAILED" in tasks else ""
    return [
        name,
        status["type"],
        status["connector"]["state"],
        running + failed,
        config.get("connector.class", ""),
    ]


@app.command("offsets")
def get_offsets(name: ConnectorName, url: Url = None, output: Output = Format.TABLE) -> None:
    """Show how far a connector has come: its offsets, in any state."""
    with connect(url) as client:
        offsets = client.offsets(name)
    if output is Format.JSON:
        # The shape that `patch offsets -f` takes.
        print_json({"offsets": offsets})
        return
    rows = [[compact(entry["partition"]), compact(entry["offset"])] for entry in offsets]
    print_table(["PARTITION", "OFFSET"], rows)


@app.command("plugins")
def get_plugins(
    url: Url = None,
    every: Annotated[
        bool, typer.Option("--all", help="Converters and transforms too, not just connectors.")
    ] = False,
    output: Output = Format.TABLE,
) -> None:
    """List the installed plugins."""
    with connect(url) as client:
        found = client.plugins(connectors_only=not every)
    if output is Format.JSON:
        print_json(found)
        return
    rows = [[plugin["type"], plugin["class"], plugin.get("version", "")] for plugin in found]
    print_table(["TYPE", "CLASS", "VERSION"], rows)


@app.command("loggers")
def get_loggers(url: Url = None, output: Output = Format.TABLE) -> None:
    """List the worker's loggers with their levels."""
    with connect(url) as client:
        found = client.loggers()
    if output is Format.JSON:
        print_json(found)
        return
    rows = [[name, entry["level"], _when(entry)] for name, entry in sorted(found.items())]
    print_table(["LOGGER", "LEVEL", "CHANGED"], rows)


@app.command("logger")
def get_logger(name: LoggerName, url: Url = None, output: Output = Format.TABLE) -> None:
    """Show the level of one logger."""
    with connect(url) as client:
        entry = client.logger(name)
    if output is Format.JSON:
        print_json(entry)
        return
    print_table(["LOGGER", "LEVEL", "CHANGED"], [[name, entry["level"], _when(entry)]])


def _when(entry: dict[str, Any]) -> str:
    changed = entry.get("last_modified")
    if changed is None:
        return ""
    return datetime.fromtimestamp(changed / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
