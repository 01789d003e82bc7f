"""`penstock apply`: create a connector, or change it to what a file says.

A file may also hold resources of Kubernetes, which are then brought about without it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.apply_resources import apply_resource, is_resource
from penstock.cli.discovery import Url, connect
from penstock.cli.files import parse_object, read_text
from penstock.cli.near_misses import tell_near_misses
from penstock.cli.output import say
from penstock.kafka.properties import parse_properties
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.client import ConnectClient

ConfigFiles = Annotated[
    list[Path],
    typer.Option(
        "-f",
        "--file",
        help='JSON: {"name": ..., "config": {...}}, or a config with a name in it; or a '
        "properties file of Kafka Connect, by its ending .properties; or YAML with KafkaConnector "
        "and KafkaConnectorOffsets resources. - is standard input. May be given again.",
        show_default=False,
    ),
]


def apply(file: ConfigFiles, url: Url = None) -> None:
    """Create connectors from files, or change them to what the files say.

    Kubernetes resources are applied one after the other: connectors are created or
    changed, offsets are altered each time.
    """
    contents = [(str(each), content) for each in file for content in read_contents(each)]
    with connect(url) as client:
        for where, content in contents:
            if is_resource(content):
                apply_resource(client, content, where)
            else:
                _apply_config(client, *name_and_config(content, where))


def _apply_config(client: ConnectClient, name: str, config: dict[str, Any]) -> None:
    known = name in client.connectors()
    client.put_config(name, config)
    say(f"Connector {name} {'updated' if known else 'created'}.")
    tell_near_misses(client, config, config)


def read_contents(file: Path) -> list[dict[str, Any]]:
    """What is in a file: one object of JSON or properties, or any number of YAML."""
    where = "standard input" if str(file) == "-" else str(file)
    text = sys.stdin.read() if str(file) == "-" else read_text(file)
    if file.suffix == ".properties":
        return [dict(parse_properties(text, where))]
    if file.suffix in (".yaml", ".yml") or (str(file) == "-" and not text.lstrip().startswith("{")):
        return _documents(text, where)
    return [parse_object(text, where)]


def _documents(text: str, where: str) -> list[dict[str, Any]]:
    import yaml

    try:
        found = [content for content in yaml.safe_load_all(text) if content is not None]
    except yaml.YAMLError as error:
        raise UserError(f"{where} is not YAML: {error}. Correct it there.") from error
    if not found or not all(isinstance(content, dict) for content in found):
        raise UserError(f"{where}: no connector and no resource is in it. See `penstock apply -h`.")
    return found


def name_and_config(content: dict[str, Any], source: str) -> tuple[str, dict[str, Any]]:
    """What a file holds, in either of its two shapes."""
    config = content.get("config", content)
    if not isinstance(config, dict):
        raise UserError(f'{source}: "config" must be an object: put its keys in {{ }}.')
    name = content.get("name", config.get("name"))
    if not isinstance(name, str) or not name.strip():
        raise UserError(f'{source}: no "name" for the connector. Add "name": "..." to it.')
    return name.strip(), config
