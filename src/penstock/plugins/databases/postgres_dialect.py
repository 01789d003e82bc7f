"""How PostgreSQL is asked."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.databases.conversions import (
    READ_DAY_MINUS_INFINITY,
    READ_MINUS_INFINITY,
    moment_texts,
    moments,
)
from penstock.plugins.databases.database_errors import talking_to
from penstock.plugins.databases.postgres_types import PostgresType, postgres_column
from penstock.plugins.databases.postgres_url import postgresql
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

_TABLES: Final = """
SELECT n.nspname::text AS schema, c.relname::text AS name
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind::text = ANY(string_to_array($1, ','))
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'
  AND n.nspname NOT LIKE 'pg_temp%' AND n.nspname LIKE $2 AND NOT c.relispartition
  AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1, 2
"""
_COLUMNS: Final = """
SELECT a.attname::text AS name, t.typname::text AS type, a.atttypmod AS modifier,
  a.attnotnull AS required, c.relkind::text AS kind,
  a.attidentity::text <> '' OR COALESCE(pg_get_expr(d.adbin, d.adrelid), '') LIKE 'nextval(%'
    AS numbered
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_TYPES: Final = """
SELECT oid::int8 AS oid, typname::text AS name FROM pg_catalog.pg_type
WHERE oid::text = ANY(string_to_array($1, ','))
"""
_STORED: Final = ("r", "m")
"""Tables and materialised views have pages; views and partitioned tables do not."""
_DAY_MICROS: Final = 86_400_000_000
ROWS_A_PAGE: Final = 60


LOCK_TIMEOUT: Final = "5s"
"""How long to wait for a lock on a table: no longer than a task may take to stop."""


class PostgresDialect(Dialect):
    """PostgreSQL 10 and later."""

    time_types: ClassVar[tuple[str, ...]] = ("timestamp", "timestamptz", "date")
    count_types: ClassVar[tuple[str, ...]] = ("int2", "int4", "int8")

    @classmethod
    def database(cls, rest: str, user: str | None, password: str | None) -> Database:
        return postgresql(rest, user, password)

    @classmethod
    def connect(cls, database: Database) -> Any:
        from adbc_driver_postgresql import dbapi

        connection = dbapi.connect(database.uri, autocommit=True)
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
            # Texts of dates and intervals are then what every other server reads in the same way.
            cursor.execute("SET DateStyle = 'ISO'")
            cursor.execute("SET IntervalStyle = 'postgres'")
        return connection

    def parameter(self, number: int) -> str:
        return f"${number}"

    def tables(self, session: Session, schema_pattern: str | None, views: bool) -> list[TableId]:
        kinds = "r,p,m,f,v" if views else "r,p,m,f"
        wanted = [kinds, schema_pattern or "%"]
        found = session.rows(_TABLES, wanted, doing="listing its tables")
        return [TableId(row["schema"], row["name"]) for row in found]

    def table(self, session: Session, table: TableId) -> Relation | None:
        rows = session.rows(_COLUMNS, [table.schema, table.table], doing=f"describing {table}")
        if not rows:
            return None
        pages = "ctid" if rows[0]["kind"] in _STORED else ""
        columns = tuple(self._column(row) for row in rows)
        return Relation(f"table {table}", table.table, _quoted(table), columns, pages)

    def _column(self, row: dict[str, Any]) -> Column:
        return postgres_column(
            row["name"],
            PostgresType(row["type"], row["modifier"]),
            self.options,
            nullable=not row["required"],
            incrementing=row["numbered"],
        )

    def query(self, session: Session, sql: str) -> Relation:
        """ADBC tells no precision of numeric columns, so psycopg is asked."""
        import psycopg

        doing = "describing the query"
        with talking_to(session.database, doing), psycopg.connect(session.database.uri) as link:
            cursor = link.execute(f"SELECT * FROM {as_subquery(sql)} LIMIT 0".encode())
            listed = cursor.description or ()
            described = [(each.name, each.type_code, _modifier(each)) for each in listed]
        oids = ",".join(str(oid) for _, oid, _ in described)
        names = {row["oid"]: row["name"] for row in session.rows(_TYPES, [oids], doing=doing)}
        columns = (
            postgres_column(
                name,
                PostgresType(names.get(oid, ""), modifier),
                self.options,
                nullable=True,
                incrementing=False,
            )
            for name, oid, modifier in described
        )
        return Relation("query", "query", as_subquery(sql), tuple(columns))

    def now_ms(self, session: Session) -> int:
        asked = "SELECT CAST(extract(epoch FROM now()) * 1000 AS bigint) AS now"
        return int(session.rows(asked, doing="asking for its time")[0]["now"])

    def time_parameter(self, column: Column, number: int) -> str:
        return f"CAST(CAST(${number} AS text) AS {column.type})"

    def latest_time(self, column: Column, delay_ms: int) -> str:
        moment = f"(now() - interval '{int(delay_ms)} milliseconds')"
        if column.type == "timestamptz":
            return moment
        zone = self.options.zone.replace("'", "''")
        return f"CAST({moment} AT TIME ZONE '{zone}' AS {column.type})"

    def time_value(self, column: Column, micros: int) -> Any:
        if micros == READ_MINUS_INFINITY:
            return "-infinity"
        aware = pa.array([micros], pa.timestamp("us", self._zone(column)))
        zone = "+00" if column.type == "timestamptz" else ""
        return moment_texts(pc.local_timestamp(aware), "-%m-%dT%H:%M:%S", zone)[0].as_py()

    def time_micros(self, column: Column, value: pa.Scalar) -> int:
        days = column.type == "date"
        if days and value.value == READ_DAY_MINUS_INFINITY:
            return READ_MINUS_INFINITY
        micros: int = value.value * (_DAY_MICROS if days else 1)
        wall = pa.array([micros], pa.timestamp("us"))
        return int(moments(wall, self._zone(column))[0].as_py())

    def _zone(self, column: Column) -> str:
        return "UTC" if column.type == "timestamptz" else self.options.zone

    def page(self, relation: Relation, number: int, rows: int) -> tuple[str, list[Any]]:
        count = self.pages_of(rows)
        condition = "ctid >= CAST($1 AS tid) AND ctid < CAST($2 AS tid)"
        return condition, [f"({number},0)", f"({number + count},0)"]

    def pages_of(self, rows: int) -> int:
        return max(1, rows // ROWS_A_PAGE)

    def pages(self, session: Session, relation: Relation) -> int:
        size = "pg_relation_size(CAST($1 AS regclass)) / current_setting('block_size')::int8"
        asked = f"SELECT {size} AS pages"
        rows = session.rows(asked, [relation.sql], doing=f"measuring {relation.label}")
        return int(rows[0]["pages"])


def _quoted(table: TableId) -> str:
    return ".".join(quote(part) for part in (table.schema, table.table) if part)


def _modifier(described: Any) -> int:
    """PostgreSQL's own number for precision and scale."""
    if described.precision is None:
        return -1
    return (int(described.precision) << 16 | (int(described.scale or 0) & 0x7FF)) + 4
