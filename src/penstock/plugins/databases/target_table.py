"""The table that rows go to: its columns, and how it comes to have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from penstock.plugins.databases.database_errors import state_of
from penstock.plugins.databases.sink_settings import MOST_BYTES, SinkSettings, is_too_long
from penstock.plugins.databases.write_session import Step, WriteSession
from penstock.plugins.databases.written_rows import Rows
from penstock.sdk.databases import quote
from penstock.sdk.errors import UserError
from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType

# Without -1, char(5) is "character", and a cast to that keeps a single letter.
_COLUMNS: Final = """
SELECT a.attname::text AS name, format_type(a.atttypid, -1) AS type
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_TYPES: Final = {
    SchemaType.INT8: "smallint",
    SchemaType.INT16: "smallint",
    SchemaType.INT32: "integer",
    SchemaType.INT64: "bigint",
    SchemaType.FLOAT32: "real",
    SchemaType.FLOAT64: "double precision",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "text",
    SchemaType.BYTES: "bytea",
    DECIMAL: "numeric",
    DATE: "date",
    TIME: "time",
    TIMESTAMP: "timestamp",
}
_EXISTS: Final = ("42P07", "23505", "42710")
"""What another task's CREATE of the same moment leads to."""


class TargetTables:
    """Tables as they were when they were last looked at. For one transaction after another."""

    def __init__(self, settings: SinkSettings, session: WriteSession) -> None:
        self._settings, self._session = settings, session
        self._known: dict[str, dict[str, str]] = {}

    def exists(self, table: str) -> bool:
        """Whether there is such a table."""
        return bool(self._known.get(table) or self._looked_up(table))

    def look_again(self, table: str) -> bool:
        """Whether the table's columns are other ones than were known."""
        before = self._known.pop(table, None)
        self._known[table] = self._looked_up(table)
        return before != self._known[table]

    def columns(self, table: str, rows: Rows) -> Mapping[str, str]:
        """The type of each column; the table is created or altered if that is allowed."""
        known = self._known.get(table) or self._looked_up(table)
        if not known:
            known = self._create(table, rows)
        if missing := [name for name in rows.columns if name not in known]:
            known = self._add(table, rows, missing)
        self._known[table] = known
        return known

    def _looked_up(self, table: str) -> dict[str, str]:
        found = self._session.rows(_COLUMNS, [table], doing=f"describing table {table}")
        return {row["name"]: row["type"] for row in found}

    def _create(self, table: str, rows: Rows) -> dict[str, str]:
        if not self._settings.create:
            raise UserError(
                f"The {self._settings.database} has no table {table}. Create it, or set "
                "'auto.create' to true."
            )
        columns = [_definition(name, schema) for name, schema in rows.schemas.items()]
        if rows.keys:
            columns.append(f"PRIMARY KEY ({', '.join(map(quote, rows.keys))})")
        self._define(f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(columns)})", table)
        return self._looked_up(table)

    def _add(self, table: str, rows: Rows, missing: Sequence[str]) -> dict[str, str]:
        if not self._settings.evolve:
            raise UserError(
                f"Table {table} has no column {', '.join(missing)}. Add it, leave the field out "
                "with 'fields.whitelist', or set 'auto.evolve' to true."
            )
        # A column that is added has nothing for the rows that are there.
        added = ", ".join(
            f"ADD COLUMN IF NOT EXISTS {quote(name)} {sql_type(rows.schemas[name], name)}"
            for name in missing
        )
        self._define(f"ALTER TABLE {table} {added}", table)
        return self._looked_up(table)

    def _define(self, statement: str, table: str) -> None:
        error = self._session.attempt(Step([statement]))
        if error is not None and state_of(error) not in _EXISTS:
            raise self._session.translated(error, f"creating or altering table {table}")


def _definition(name: str, schema: Schema) -> str:
    required = "" if schema.optional else " NOT NULL"
    return f"{quote(name)} {sql_type(schema, name)}{required}"


def sql_type(schema: Schema, name: str) -> str:
    """The type of a new column; ``UserError`` for one that cannot be made."""
    if is_too_long(name):
        raise UserError(
            f"PostgreSQL cuts names after {MOST_BYTES} bytes, and field {name} has a longer one. "
            "Rename it with a transform, or leave it out with 'fields.whitelist'."
        )
    if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
        return f"{sql_type(schema.value_schema, name)}[]"
    found = _TYPES.get(schema.logical or schema.type)
    if found is None:
        raise UserError(
            f"Field {name} is a {schema.type}, which no column can hold. Leave it out with "
            "'fields.whitelist', or flatten it with a transform."
        )
    return found
