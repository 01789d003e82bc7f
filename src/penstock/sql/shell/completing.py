"""What can be completed: names and config keys, asked for once in a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from penstock.sdk.errors import PenstockError
from penstock.sql.running.home import Home

FRESH_SECONDS = 20.0


class Known:
    """Names and keys. What cannot be asked for is left out: completion never fails."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._found: dict[str, tuple[float, list[str]]] = {}

    def names(self) -> Iterable[str]:
        """Connectors, streams, tables and their columns."""
        return [
            *self._recent("connectors", self._connectors),
            *self._recent("sources", self._sources),
        ]

    def keys(self) -> Iterable[str]:
        """Keys of the installed connectors, their classes, and the properties of sources."""
        from penstock.sql.running.sources import KNOWN

        return [*self._recent("keys", self._connector_keys), *KNOWN]

    def _connectors(self) -> list[str]:
        return self._home.connect.connectors()

    def _sources(self) -> list[str]:
        catalog = self._home.known_catalog()
        found = catalog.sources().values() if catalog else ()
        return sorted({name for s in found for name in (s.name, *(c.name for c in s.columns))})

    def _connector_keys(self) -> list[str]:
        classes = [str(plugin["class"]) for plugin in self._home.connect.plugins()]
        keys = {k["name"] for each in classes for k in self._home.connect.plugin_config(each)}
        return sorted(keys | {"connector.class", *classes})

    def _recent(self, what: str, ask: Callable[[], list[str]]) -> list[str]:
        until, found = self._found.get(what, (0.0, []))
        if time.monotonic() < until:
            return found
        try:
            found = list(ask())
        except PenstockError:
            found = []
        self._found[what] = (time.monotonic() + FRESH_SECONDS, found)
        return found
