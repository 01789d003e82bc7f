"""`penstock delete`: connectors, and offsets."""

from __future__ import annotations

from penstock.cli.asking import Yes, ask
from penstock.cli.commands import group
from penstock.cli.connector_names import ConnectorNames, meant
from penstock.cli.discovery import Url, connect
from penstock.cli.output import say

app = group("Delete connectors, or their offsets.")


@app.command("connector")
def delete_connector(names: ConnectorNames, url: Url = None, yes: Yes = False) -> None:
    """Delete connectors. Their offsets are kept: created again, they go on from there.

    Asks first if it runs on a terminal.
    """
    with connect(url) as client:
        wanted = meant(client, names)
        ask(f"Delete {', '.join(wanted)}?", yes=yes)
        for name in wanted:
            client.delete(name)
            say(f"Connector {name} deleted.")


@app.command("offsets")
def delete_offsets(names: ConnectorNames, url: Url = None, yes: Yes = False) -> None:
    """Delete all offsets of stopped connectors: they will start from the beginning.

    Asks first if it runs on a terminal.
    """
    with connect(url) as client:
        wanted = meant(client, names)
        ask(f"Delete the offsets of {', '.join(wanted)}?", yes=yes)
        for name in wanted:
            message = client.reset_offsets(name)
            say(f"{name}: {message}" if len(wanted) > 1 else message)
