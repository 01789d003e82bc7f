"""What the tests of persistent queries ask about their tables."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import shutil
from collections.abc import Sequence

from penstock.client import ConnectClient, raise_if_failed
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.persistent.table_join import store_root
from typing_sql import Typing
from waiting import eventually

EARLIEST = "SET 'auto.offset.reset'='earliest';"


def become(
    typed: Typing, connectors: ConnectClient, table: str, wanted: Sequence[tuple[object, ...]]
) -> None:
    """Wait until a table has these rows."""

    def same() -> bool:
        for query in typed.home.catalog.queries():
            raise_if_failed(connectors, query)
        found = typed.rows(f"SELECT * FROM {table};")
        return sorted(found, key=str) == sorted(wanted, key=str)

    eventually(same, within=180, every=0.5, what=f"{wanted} in {table}")


def query_into(typed: Typing, sink: str) -> PersistentQuery:
    """The query that writes it."""
    (query,) = [q for q in typed.home.catalog.queries().values() if q.sink.name == sink]
    return query


def restarted(typed: Typing, query_id: str, store: str) -> None:
    """Pause a query, take its files away, and let it go on."""
    typed(f"PAUSE {query_id};")
    eventually(lambda: "PAUSED" in typed("SHOW QUERIES;"), what="PAUSED")
    shutil.rmtree(store_root("") / store)
    typed(f"RESUME {query_id};")
