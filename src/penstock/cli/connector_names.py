"""The connectors that a command is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import connector_names
from penstock.cli.names import chosen

if TYPE_CHECKING:
    from penstock.client import ConnectClient

ConnectorName = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the connector.", autocompletion=connector_names),
]
ConnectorNames = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME",
        help="Names of connectors, or patterns: 'orders-*'.",
        autocompletion=connector_names,
    ),
]


def meant(client: ConnectClient, given: Sequence[str]) -> list[str]:
    """The connectors that names and patterns mean; UserError if a pattern matches none."""
    return chosen(given, client.connectors, "connector")
