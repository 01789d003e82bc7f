"""Connections to databases, by ADBC: results are Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from penstock.plugins.databases.database_errors import is_drivers, talking_to
from penstock.sdk.databases import Database


class Session:
    """One connection, opened when first used, and again after an error. For one thread."""

    def __init__(self, database: Database, connect: Callable[[Database], Any]) -> None:
        self.database = database
        self._connect = connect
        self._connection: Any = None

    def query(self, sql: str, parameters: Sequence[Any] = (), *, doing: str = "reading") -> Any:
        """The result as a table. ``doing`` says what for, in errors."""
        with talking_to(self.database, doing):
            try:
                return self._fetched(sql, parameters)
            except Exception as error:
                if is_drivers(error):
                    self.close()
                raise

    def _fetched(self, sql: str, parameters: Sequence[Any]) -> pa.Table:
        if self._connection is None:
            self._connection = self._connect(self.database)
        with self._connection.cursor() as cursor:
            cursor.execute(sql, tuple(parameters) or None)
            return cursor.fetch_arrow_table()

    def rows(self, sql: str, parameters: Sequence[Any] = (), *, doing: str) -> list[dict[str, Any]]:
        """A small result, as Python objects."""
        found: list[dict[str, Any]] = self.query(sql, parameters, doing=doing).to_pylist()
        return found

    def close(self) -> None:
        """Close the connection; the next query opens another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()
