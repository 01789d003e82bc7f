"""`penstock describe`: all about one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from penstock.cli.commands import group
from penstock.cli.completion import plugin_names
from penstock.cli.connector_names import ConnectorNames, meant
from penstock.cli.discovery import Url, connect
from penstock.cli.output import (
    Format,
    Output,
    compact,
    console,
    print_objects,
    print_table,
    styled,
)
from penstock.cli.plugin_examples import plugin_example, plugin_guarantee

if TYPE_CHECKING:
    from penstock.client import ConnectClient

SPARK = ("spark_application_id", "spark_ui")

app = group("Show everything about connectors, or a plugin.")


@app.command("connector")
def describe_connector(
    names: ConnectorNames, url: Url = None, output: Output = Format.TABLE
) -> None:
    """Show states, tasks with their traces, configs, topics and offsets of connectors."""
    with connect(url) as client:
        found = [_described(client, name) for name in meant(client, names)]
    if print_objects(output, found):
        return
    out = console()
    for number, each in enumerate(found):
        if number:
            out.print()
        _print(out, each)


def _described(client: ConnectClient, name: str) -> dict[str, Any]:
    found = {
        "name": name,
        "info": client.info(name),
        "status": client.status(name),
        "topics": client.topics(name),
        "offsets": client.offsets(name),
    }
    metrics = _metrics(client, name)
    carriers = {str(task["id"]): task.get("carrier") for task in metrics.get("tasks", [])}
    return {
        **found,
        "spark": {key: metrics[key] for key in SPARK if key in metrics},
        "carriers": {task: carrier for task, carrier in carriers.items() if carrier},
    }


def _metrics(client: ConnectClient, name: str) -> dict[str, Any]:
    """They name Spark, and the carriers that run tasks now; of Kafka Connect there are none."""
    from penstock.client.errors import ConnectApiError

    try:
        return client.metrics(name)
    except ConnectApiError:
        return {}


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
    """Show the config keys of a plugin and, if it is installed here, what a connector guarantees
    and an example."""
    with connect(url) as client:
        keys = client.plugin_config(name)
    if print_objects(output, keys):
        return
    print_table(["Key", "Type", "Default", "What it is"], [_key_row(key) for key in keys])
    if guarantee := plugin_guarantee(name):
        _section(console(), "Guarantee", [guarantee])
    if example := plugin_example(name):
        _section(console(), "Example", example.splitlines())


def _key_row(key: dict[str, Any]) -> list[str]:
    default = "(required)" if key["required"] else str(key["default_value"] or "")
    return [key["name"], key["type"], default, key["documentation"]]


def _print(out: Console, found: dict[str, Any]) -> None:
    status, info = found["status"], found["info"]
    _fields(out, [("Name", info["name"]), ("Type", info["type"])])
    _state(out, "State", status["connector"])
    for task in status["tasks"]:
        _state(out, f"Task {task['id']}", task, found["carriers"].get(str(task["id"]), ""))
    if found["spark"]:
        _fields(out, [("Spark", "  ".join(found["spark"].values()))])
    _section(out, "Config", [f"{k} = {v}" for k, v in sorted(info["config"].items())])
    _section(out, "Topics", found["topics"])
    offsets = [f"{compact(o['partition'])} → {compact(o['offset'])}" for o in found["offsets"]]
    _section(out, "Offsets", offsets, "none yet")


def _fields(out: Console, fields: list[tuple[str, str]]) -> None:
    for label, text in fields:
        out.print(f"[bold]{label + ':':<9}[/] {escape(text)}", soft_wrap=True)


def _state(out: Console, label: str, part: dict[str, Any], carrier: str = "") -> None:
    line = f"{styled(part['state'])}  {escape(part['worker_id'])}"
    line += f"  {escape(carrier)}" if carrier else ""
    out.print(f"[bold]{label + ':':<9}[/] {line}", soft_wrap=True)
    failed = part["state"] == "FAILED"
    for line in part.get("trace", "").splitlines():
        text, style = (line, "red") if failed else (f"Warning: {line}", "yellow")
        out.print(f"    {text}", markup=False, style=style, soft_wrap=True)


def _section(out: Console, title: str, lines: list[str], nothing: str = "none") -> None:
    out.print(f"[bold]{title}:[/]" + ("" if lines else f"   {nothing}"))
    for line in lines:
        out.print(f"    {line}", markup=False, soft_wrap=True)
