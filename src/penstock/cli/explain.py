"""`penstock explain`: what Spark makes of a connector."""

from __future__ import annotations

from penstock.cli.commands import group
from penstock.cli.connector_names import ConnectorNames, meant
from penstock.cli.discovery import Url, connect
from penstock.cli.output import say

app = group("Show Spark's plan of connectors that run as Spark queries.")


@app.command("connector")
def explain_connector(names: ConnectorNames, url: Url = None) -> None:
    """Show Spark's plan of frame connectors and persistent queries.

    There is none before the first records have come. The worker that runs the connector keeps it.
    """
    with connect(url) as client:
        for number, name in enumerate(meant(client, names)):
            say(f"{chr(10) if number else ''}{client.plan(name).rstrip()}")
