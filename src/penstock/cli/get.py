"""`penstock get`: lists."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from penstock.cli.commands import group
from penstock.cli.completion import connector_names, logger_names
from penstock.cli.connector_names import ConnectorNames, meant
from penstock.cli.discovery import Url, connect
from penstock.cli.names import chosen
from penstock.cli.output import Format, Output, compact, print_objects, print_table, warn
from penstock.sdk.errors import UserError

app = group("List connectors, offsets, plugins or loggers.")

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
def get_connectors(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Only these: names, or patterns such as 'orders-*'.",
            autocompletion=connector_names,
        ),
    ] = None,
    url: Url = None,
    output: Output = Format.TABLE,
) -> None:
    """List connectors with their states."""
    with connect(url) as client:
        found = client.expanded("status", "info")
    wanted = chosen(names, lambda: found, "connector") if names else sorted(found)
    if missing := [name for name in wanted if name not in found]:
        raise UserError(f"No such connector: {', '.join(missing)}.").advising(
            "`penstock get connectors` lists the connectors."
        )
    if print_objects(output, ({"name": name, **found[name]} for name in wanted)):
        return
    if not found:
        warn("No connectors yet: `penstock apply -f FILE` creates one.")
    print_table(
        ["Name", "Type", "State", "Tasks", "Class"], [_row(name, found[name]) for name in wanted]
    )


def _row(name: str, entry: dict[str, Any]) -> list[str]:
    status, config = entry["status"], entry["info"]["config"]
    tasks = [task["state"] for task in status["tasks"]]
    running = f"{tasks.count('RUNNING')}/{len(tasks)}"
    failed = f" {tasks.count('FAILED')} FAILED" if "FAILED" in tasks else ""
    return [
        name,
        status["type"],
        status["connector"]["state"],
        running + failed + _stuck(status),
        config.get("connector.class", ""),
    ]


def _stuck(status: dict[str, Any]) -> str:
    """What the states do not tell: `describe` shows the whole story."""
    tasks = sum(map(_has_remark, status["tasks"]))
    waits = " waiting" if _has_remark(status["connector"]) else ""
    return (f" {tasks} stuck" if tasks else "") + waits


def _has_remark(part: dict[str, Any]) -> bool:
    return part["state"] != "FAILED" and bool(part.get("trace"))


@app.command("offsets")
def get_offsets(names: ConnectorNames, url: Url = None, output: Output = Format.TABLE) -> None:
    """Show how far connectors have come: their offsets, in any state."""
    with connect(url) as client:
        wanted = meant(client, names)
        found = {name: client.offsets(name) for name in wanted}
    for name in (name for name, offsets in found.items() if not offsets):
        warn(f"Connector {name} has no offsets yet: it has not committed anything.")
    several = len(wanted) > 1
    # Of one connector, the shape that `patch offsets -f` takes.
    objects = (
        {"connector": name, **entry} if several else entry
        for name, offsets in found.items()
        for entry in offsets
    )
    if print_objects(output, objects):
        return
    rows = [
        [*([name] if several else []), compact(entry["partition"]), compact(entry["offset"])]
        for name, offsets in found.items()
        for entry in offsets
    ]
    print_table([*(["Connector"] if several else []), "Partition", "Offset"], rows)


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
    if print_objects(output, found):
        return
    rows = [[plugin["type"], plugin["class"], plugin.get("version", "")] for plugin in found]
    print_table(["Type", "Class", "Version"], rows)


@app.command("loggers")
def get_loggers(url: Url = None, output: Output = Format.TABLE) -> None:
    """List the worker's loggers with their levels."""
    with connect(url) as client:
        found = client.loggers()
    if print_objects(output, ({"name": name, **found[name]} for name in sorted(found))):
        return
    rows = [[name, entry["level"], _when(entry)] for name, entry in sorted(found.items())]
    print_table(["Logger", "Level", "Changed"], rows)


@app.command("logger")
def get_logger(name: LoggerName, url: Url = None, output: Output = Format.TABLE) -> None:
    """Show the level of one logger."""
    with connect(url) as client:
        entry = client.logger(name)
    if print_objects(output, [{"name": name, **entry}]):
        return
    print_table(["Logger", "Level", "Changed"], [[name, entry["level"], _when(entry)]])


def _when(entry: dict[str, Any]) -> str:
    changed = entry.get("last_modified")
    if changed is None:
        return ""
    return datetime.fromtimestamp(changed / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
