"""A kind of database as another package would bring it: SQLite's files, but with times.

Of Penstock it imports only the sdk. Names stand in backticks, and columns of type MOMENT are
milliseconds since 1970.
"""

from __future__ import annotations

from typing import Any, ClassVar

import adbc_driver_sqlite.dbapi
import pyarrow as pa

from penstock.sdk import Schema, to_field
from penstock.sdk.databases import (
    Column,
    Database,
    Dialect,
    Relation,
    Session,
    TableId,
    as_subquery,
)

SCHEMAS = {"INTEGER": Schema.int64, "TEXT": Schema.string, "MOMENT": Schema.timestamp}
NOW = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


class LedgerDialect(Dialect):
    """Ledgers."""

    time_types: ClassVar[tuple[str, ...]] = ("MOMENT",)
    count_types: ClassVar[tuple[str, ...]] = ("INTEGER",)

    @classmethod
    def database(cls, rest: str, user: str | None, password: str | None) -> Database:
        return Database("ledger", rest, rest, user, password, file=rest)

    @classmethod
    def connect(cls, database: Database) -> Any:
        return adbc_driver_sqlite.dbapi.connect(database.uri, autocommit=True)

    def quote(self, name: str) -> str:
        return f"`{name}`"

    def parameter(self, number: int) -> str:
        return f"?{number}"

    def tables(self, session: Session, schema_pattern: str | None, views: bool) -> list[TableId]:
        found = session.rows("SELECT name FROM sqlite_schema ORDER BY 1", doing="listing tables")
        return [TableId("", row["name"]) for row in found]

    def table(self, session: Session, table: TableId) -> Relation | None:
        asked = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?1)'
        rows = session.rows(asked, [table.table], doing=f"describing {table}")
        columns = tuple(self._column(row) for row in rows)
        name = table.table
        return Relation(f"table {name}", name, self.quote(name), columns) if rows else None

    def query(self, session: Session, sql: str) -> Relation:
        first = f"SELECT * FROM {as_subquery(sql)} LIMIT 1"  # noqa: S608 (it is the user's query)
        read = session.query(first, doing="describing it")
        described = [{"name": n, "type": "TEXT", "notnull": 0, "pk": 0} for n in read.schema.names]
        columns = tuple(self._column(row) for row in described)
        return Relation("query", "query", as_subquery(sql), columns)

    def _column(self, row: dict[str, Any]) -> Column:
        required = bool(row["notnull"] or row["pk"])
        schema = SCHEMAS[row["type"]](optional=not required)
        kind, name = to_field(schema, row["name"]).type, self.quote(row["name"])
        read_as = "TEXT" if row["type"] == "TEXT" else "INTEGER"
        expression = f"CAST({name} AS {read_as}) AS {name}"
        numbered = bool(row["pk"])
        return Column(
            row["name"], row["type"], schema, expression, lambda a: a.cast(kind), numbered
        )

    def now_ms(self, session: Session) -> int:
        return int(session.rows(f"SELECT {NOW} AS now", doing="asking for the time")[0]["now"])

    def time_parameter(self, column: Column, number: int) -> str:
        return f"?{number}"

    def latest_time(self, column: Column, delay_ms: int) -> str:
        return f"({NOW} - {delay_ms})"

    def time_value(self, column: Column, micros: int) -> int:
        return micros // 1000

    def time_micros(self, column: Column, value: pa.Scalar) -> int:
        return int(value.as_py()) * 1000
