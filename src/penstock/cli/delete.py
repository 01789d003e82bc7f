"""`penstock delete`: connectors, and offsets."""

from __future__ import annotations

import typer

from penstock.cli.discovery import Url, connect
from penstock.cli.get import ConnectorName
from penstock.cli.output import say

app = typer.Typer(help="Delete a connector, or its offsets.", no_args_is_help=True)


@app.command("connector")
def delete_connector(name: ConnectorName, url: Url = None) -> None:
    """Delete a connector. Its offsets stay: created again, it goes on from them."""
    with connect(url) as client:
        client.delete(name)
    say(f"Connector {name} deleted.")


@app.command("offsets")
def delete_offsets(name: ConnectorName, url: Url = None) -> None:
    """Forget all offsets of a stopped connector: it will start from the beginning."""
    with connect(url) as client:
        message = client.reset_offsets(name)
    say(message)
