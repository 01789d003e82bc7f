"""Names of connectors in statements."""

from __future__ import annotations

from penstock.sql.connecting.connect_api import Connect
from penstock.sql.errors import StatementError, nearest


def connector_named(connect: Connect, given: str) -> str:
    """The connector of that name, else the only one that differs in case only."""
    found = find_connector(connect, given)
    if found is None:
        hint = nearest(given, connect.connectors())
        raise StatementError(f"Connector {given} does not exist.{hint} SHOW CONNECTORS; lists all.")
    return found


def find_connector(connect: Connect, given: str) -> str | None:
    """The same; None if there is none."""
    names = connect.connectors()
    if given in names:
        return given
    alike = [name for name in names if name.lower() == given.lower()]
    return alike[0] if len(alike) == 1 else None
