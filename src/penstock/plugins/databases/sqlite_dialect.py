"""How SQLite is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from penstock.plugins.databases.conversions import cast
from penstock.plugins.databases.jdbc_url import URL
from penstock.sdk.databases import (
    Column,
    Database,
    Dialect,
    Relation,
    Session,
    TableId,
    as_subquery,
    quote,
)
from penstock.sdk.errors import ConfigError, UserError
from penstock.sdk.schema import Schema, to_type

_KINDS: Final[tuple[tuple[str, str, Callable[[], Schema]], ...]] = (
    ("BOOL", "INTEGER", Schema.boolean),
    ("INT", "INTEGER", Schema.int64),
    ("CHAR|CLOB|TEXT|DATE|TIME|JSON|UUID", "TEXT", Schema.string),
    ("BLOB", "BLOB", Schema.bytes),
    ("REAL|FLOA|DOUB", "REAL", Schema.float64),
    ("", "TEXT", Schema.string),
)
"""Part of a declared type, what values are read as, and their schema: SQLite's own rules."""


class SqliteDialect(Dialect):
    """SQLite 3. It has no types for times, so rows are found by numbers only."""

    @classmethod
    def database(cls, rest: str, user: str | None, password: str | None) -> Database:
        path = rest.partition("?")[0]
        if not path:
            raise ConfigError("Write jdbc:sqlite:/path/of/a/file.", key=URL)
        return Database("sqlite", path, path, user, password, file=path)

    @classmethod
    def connect(cls, database: Database) -> Any:
        if not Path(database.address).is_file():
            # SQLite would create it.
            raise UserError(f"There is no file {database.address}: check '{URL}'.")
        return _driver().connect(database.uri, autocommit=True)

    def parameter(self, number: int) -> str:
        return f"?{number}"

    def tables(self, session: Session, schema_pattern: str | None, views: bool) -> list[TableId]:
        kinds = "('table', 'view')" if views else "('table')"
        listing = f"SELECT name FROM sqlite_schema WHERE type IN {kinds} "
        listing += "AND name NOT LIKE 'sqlite_%' ORDER BY name"
        return [TableId("", row["name"]) for row in session.rows(listing, doing="listing tables")]

    def table(self, session: Session, table: TableId) -> Relation | None:
        described = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?1)'
        rows = session.rows(described, [table.table], doing=f"describing {table}")
        if not rows:
            return None
        keys = [row["name"] for row in rows if row["pk"]]
        columns = tuple(_column(row, alone=keys == [row["name"]]) for row in rows)
        stored = "SELECT type, sql FROM sqlite_schema WHERE name = ?1"
        kind = session.rows(stored, [table.table], doing=f"describing {table}")[0]
        plain = kind["type"] == "table" and "WITHOUT ROWID" not in (kind["sql"] or "").upper()
        pages = "rowid" if plain else ""
        return Relation(f"table {table}", table.table, quote(table.table), columns, pages)

    def query(self, session: Session, sql: str) -> Relation:
        """The types are those of the first row, as far as there is one."""
        asked = f"SELECT * FROM {as_subquery(sql)} LIMIT 1"
        found = session.query(asked, doing="describing the query")
        columns = tuple(_found(field) for field in found.schema)
        return Relation("query", "query", as_subquery(sql), columns)

    def page(self, relation: Relation, number: int, rows: int) -> tuple[str, list[Any]]:
        return "rowid >= ?1 AND rowid < ?2", [number, number + rows]

    def pages_of(self, rows: int) -> int:
        return rows

    def pages(self, session: Session, relation: Relation) -> int:
        asked = f"SELECT max(rowid) AS last FROM {relation.sql}"
        last = session.rows(asked, doing=f"measuring {relation.label}")[0]["last"]
        return 0 if last is None else int(last) + 1


def _driver() -> Any:
    try:
        from adbc_driver_sqlite import dbapi
    except ModuleNotFoundError:
        message = "SQLite needs adbc-driver-sqlite, which is not installed. Run: pip install "
        raise ConfigError(f"{message}adbc-driver-sqlite.", key=URL) from None
    return dbapi


def _column(row: dict[str, Any], *, alone: bool) -> Column:
    declared = (row["type"] or "").upper()
    _, read_as, make = next(kind for kind in _KINDS if re.search(kind[0], declared))
    numbered = alone and declared == "INTEGER"
    optional = not (row["notnull"] or numbered)
    return _read(row["name"], declared, read_as, replace(make(), optional=optional), numbered)


def _found(field: pa.Field) -> Column:
    made = Schema.string
    if pa.types.is_integer(field.type):
        made = Schema.int64
    elif pa.types.is_floating(field.type):
        made = Schema.float64
    elif pa.types.is_binary(field.type):
        made = Schema.bytes
    kind = next(kind for kind in _KINDS[1:] if kind[2] == made)
    return _read(field.name, kind[1], kind[1], made(optional=True), numbered=False)


def _read(name: str, declared: str, read_as: str, schema: Schema, numbered: bool) -> Column:
    expression = f"CAST({quote(name)} AS {read_as}) AS {quote(name)}"
    return Column(name, declared, schema, expression, _to(to_type(schema)), numbered)


def _to(kind: pa.DataType) -> Callable[[Any], Any]:
    """A column of nothing but null comes as integers, which are not cast to everything."""
    convert = cast(kind)
    return lambda array: (
        pa.nulls(len(array), kind) if array.null_count == len(array) else convert(array)
    )
