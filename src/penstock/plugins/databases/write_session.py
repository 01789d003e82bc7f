"""A connection that writes: transactions and savepoints, by ADBC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from penstock.plugins.databases.database_errors import is_drivers, translated
from penstock.plugins.databases.postgres_dialect import LOCK_TIMEOUT
from penstock.sdk.databases import Database
from penstock.sdk.errors import PenstockError

BATCH: Final = "penstock_batch"
"""The temporary table into which rows are copied."""
_SAVE: Final = "SAVEPOINT penstock"
_KEEP: Final = "RELEASE SAVEPOINT penstock"
_UNDO: Final = "ROLLBACK TO SAVEPOINT penstock"


@dataclass(frozen=True)
class Step:
    """Statements, and rows to copy into the temporary table before them."""

    statements: Sequence[str]
    copied: pa.Table | None = None


class WriteSession:
    """One connection and its transaction. For one thread."""

    def __init__(self, database: Database) -> None:
        """Connects; ``RetriableError`` while the database cannot be reached."""
        from adbc_driver_postgresql import dbapi

        self.database = database
        try:
            # The driver's own transactions refuse to go back to a savepoint after an error.
            self._connection = dbapi.connect(database.uri, autocommit=True)
            self._cursor = self._connection.cursor()
            self._cursor.execute("SET TIME ZONE 'UTC'")
            self._cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        except Exception as error:
            if not is_drivers(error):
                raise
            raise self.translated(error, "connecting") from None
        self._open = False

    def begin(self) -> None:
        """Begin a transaction, unless one is open."""
        if not self._open:
            self._cursor.execute("BEGIN")
            self._open = True
            # So that every row's fault shows with its statement, not with the commit.
            self._cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    def commit(self) -> None:
        """Commit what was done since ``begin``."""
        if self._open:
            self._cursor.execute("COMMIT")
            self._open = False

    def roll_back(self) -> None:
        """Undo what was done since ``begin``."""
        if self._open:
            self._open = False
            self._cursor.execute("ROLLBACK")

    def rows(self, sql: str, parameters: Sequence[Any] = (), *, doing: str) -> list[dict[str, Any]]:
        """The result of a statement, as Python objects."""
        try:
            self._cursor.execute(sql, tuple(parameters) or None)
            found: list[dict[str, Any]] = self._cursor.fetch_arrow_table().to_pylist()
            return found
        except Exception as error:
            if not is_drivers(error):
                raise
            raise self.translated(error, doing) from error

    def attempt(self, *steps: Step, keep: bool = True) -> BaseException | None:
        """Does all steps within a savepoint, and undoes them if one fails or ``keep`` is False.

        The error is returned, for the caller to tell what is at fault.
        """
        self._cursor.execute(_SAVE)
        try:
            for step in steps:
                if step.copied is not None:
                    self._copy(step.copied)
                for statement in step.statements:
                    self._cursor.execute(statement)
        except Exception as error:
            if not is_drivers(error):
                raise
            self._cursor.execute(_UNDO)
            return error
        self._cursor.execute(_KEEP if keep else _UNDO)
        return None

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Undoes what was attempted within, if a ``PenstockError`` ends it."""
        self._cursor.execute(f"{_SAVE}_all")
        try:
            yield
        except PenstockError:
            self._cursor.execute(f"{_UNDO}_all")
            raise
        self._cursor.execute(f"{_KEEP}_all")

    def alive(self) -> bool:
        """Whether the connection, and with it the transaction, is still there."""
        try:
            self._cursor.execute("SELECT 1")
            self._cursor.fetch_arrow_table()
        except Exception as error:
            if not is_drivers(error):
                raise
            return False
        return True

    def _copy(self, rows: pa.Table) -> None:
        self._cursor.execute(f"DROP TABLE IF EXISTS pg_temp.{BATCH}")
        self._cursor.adbc_ingest(BATCH, rows, mode="create", temporary=True)

    def translated(self, error: BaseException, doing: str) -> PenstockError:
        """What to raise instead of a driver's error."""
        return translated(self.database, doing, error)

    def close(self) -> None:
        """Close the connection; a transaction that is open is undone."""
        with suppress(Exception):
            self._cursor.close()
        with suppress(Exception):
            self._connection.close()
