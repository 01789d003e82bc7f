"""`penstock describe`: all about one thing."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from penstock.cli.completion import plugin_names
from penstock.cli.discovery import Url, connect
from penstock.cli.get import ConnectorName
from penstock.cli.output import (
    Format,
    Output,
    compact,
    console,
    print_json,
    print_table,
    styled,
)

app = typer.Typer(help="Show all about one connector, or one plugin.", no_args_is_help=True)


@app.command("connector")
def describe_connector(name: ConnectorName, url: Url = None, output: Output = Format.TABLE) -> None:
    """Show a connector's state, tasks with their traces, config, topics and offsets."""
    with connect(url) as client:
        found = {
            "info": client.info(name),
            "status": client.status(name),
            "topics": client.topics(name),
            "offsets": client.offsets(name),
        }
    if output is Format.JSON:
        print_json(found)
    else:
        _print(console(), found)


@app.command("plugin")
def describe_plugin(
    name: Annotated[
        str,
        typer.Argument(
            metavar="CLASS",
            help="Class of the plugin, or its last part.",
            autocompletion=plugin_names,
        ),
    ],
    url: Url = None,
    output: Output = Format.TABLE,
) -> None:
    """Show the config keys of a plugin."""
    with connect(url) as client:
        keys = client.plugin_config(name)
    if output is Format.JSON:
        print_json(keys)
        return
    print_table(["KEY", "TYPE", "DEFAULT", "WHAT IT IS"], [_key_row(key) for key in keys])


def _key_row(key: dict[str, Any]) -> list[str]:
    default = "(required)" if key["required"] else str(key["default_value"] or "")
    return [key["name"], key["type"], default, key["documentation"]]


def _print(out: Console, found: dict[str, Any]) -> None:
    status, info = found["status"], found["info"]
    _fields(out, [("Name", info["name"]), ("Type", info["type"])])
    _state(out, "State", status["connector"])
    for task in status["tasks"]:
        _state(out, f"Task {task['id']}", task)
    _section(out, "Config", [f"{k} = {v}" for k, v in sorted(info["config"].items())])
    _section(out, "Topics", found["topics"])
    offsets = [f"{compact(o['partition'])} → {compact(o['offset'])}" for o in found["offsets"]]
    _section(out, "Offsets", offsets)


def _fields(out: Console, fields: list[tuple[str, str]]) -> None:
    for label, text in fields:
        out.print(f"[bold]{label + ':':<9}[/] {escape(text)}", soft_wrap=True)


def _state(out: Console, label: str, part: dict[str, Any]) -> None:
    line = f"{styled(part['state'])}  {escape(part['worker_id'])}"
    out.print(f"[bold]{label + ':':<9}[/] {line}", soft_wrap=True)
    for line in part.get("trace", "").splitlines():
        out.print(f"    {line}", markup=False, style="red", soft_wrap=True)


def _section(out: Console, title: str, lines: list[str]) -> None:
    out.print(f"[bold]{title}:[/]" + ("" if lines else "   none"))
    for line in lines:
        out.print(f"    {line}", markup=False, soft_wrap=True)
