"""`penstock apply`: create a connector, or change it to what a file says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.discovery import Url, connect
from penstock.cli.files import read_object, read_text
from penstock.cli.output import say
from penstock.kafka.properties import parse_properties
from penstock.sdk.errors import UserError

ConfigFile = Annotated[
    Path,
    typer.Option(
        "-f",
        "--file",
        help='JSON: {"name": ..., "config": {...}}, or a config with a name in it; or a '
        "properties file of Kafka Connect, by its ending .properties. - is standard input.",
        show_default=False,
    ),
]


def apply(file: ConfigFile, url: Url = None) -> None:
    """Create a connector from a file, or change it to what the file says."""
    name, config = name_and_config(read_content(file), str(file))
    with connect(url) as client:
        known = name in client.connectors()
        client.put_config(name, config)
    say(f"Connector {name} {'updated' if known else 'created'}.")


def read_content(file: Path) -> dict[str, Any]:
    """What is in a JSON file, or in a properties file as Kafka Connect's standalone mode takes."""
    if file.suffix == ".properties":
        return dict(parse_properties(read_text(file), str(file)))
    return read_object(file)


def name_and_config(content: dict[str, Any], source: str) -> tuple[str, dict[str, Any]]:
    """What a file holds, in either of its two shapes."""
    config = content.get("config", content)
    if not isinstance(config, dict):
        raise UserError(f'{source}: "config" must be an object: put its keys in {{ }}.')
    name = content.get("name", config.get("name"))
    if not isinstance(name, str) or not name.strip():
        raise UserError(f'{source}: no "name" for the connector. Add "name": "..." to it.')
    return name.strip(), config
