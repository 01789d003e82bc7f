"""Connections to databases, by ADBC: results are Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from penstock.plugins.databases.database_errors import is_drivers, talking_to
from penstock.plugins.databases.jdbc_url import SQLITE, Database
from penstock.sdk.errors import ConfigError, UserError

LOCK_TIMEOUT: Final = "5s"
"""How long to wait for a lock on a table: no longer than a task may take to stop."""


class Session:
    """One connection, opened when first used, and again after an error. For one thread."""

    def __init__(self, database: Database) -> None:
        self.database = database
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
            self._connection = _connect(self.database)
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


def _connect(database: Database) -> Any:
    if database.kind == SQLITE:
        if not Path(database.address).is_file():
            # SQLite would create it.
            raise UserError(f"There is no file {database.address}: check 'connection.url'.")
        return _sqlite().connect(database.uri, autocommit=True)
    from adbc_driver_postgresql import dbapi

    connection = dbapi.connect(database.uri, autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
    return connection


def _sqlite() -> Any:
    try:
        from adbc_driver_sqlite import dbapi
    except ModuleNotFoundError:
        message = "SQLite needs adbc-driver-sqlite, which is not installed. Run: pip install "
        raise ConfigError(f"{message}adbc-driver-sqlite.", key="connection.url") from None
    return dbapi
