"""`penstock apply`: create a connector, or change it to what a file says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.discovery import Url, connect
from penstock.cli.files import read_object
from penstock.cli.output import say
from penstock.sdk.errors import UserError

ConfigFile = Annotated[
    Path,
    typer.Option(
        "-f",
        "--file",
        help='JSON: {"name": ..., "config": {...}}, or a config with a name in it. - is standard '
        "input.",
        show_default=False,
    ),
]


def apply(file: ConfigFile, url: Url = None) -> None:
    """Create a connector from a file, or change it to what the file says."""
    name, config = name_and_config(read_object(file), str(file))
    with connect(url) as client:
        known = name in client.connectors()
        client.put_config(name, config)
    say(f"Connector {name} {'updated' if known else 'created'}.")


def name_and_config(content: dict[str, Any], source: str) -> tuple[str, dict[str, Any]]:
    """What a file holds, in either of its two shapes."""
    config = content.get("config", content)
    if not isinstance(config, dict):
        raise UserError(f'{source}: "config" must be an object')
    name = content.get("name", config.get("name"))
    if not isinstance(name, str) or not name.strip():
        raise UserError(f'{source}: no "name" for the connector')
    return name.strip(), config
