"""The statements that bring copied rows into their table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from penstock.plugins.databases.write_session import BATCH
from penstock.plugins.databases.written_rows import DELETED, PLACE, Rows
from penstock.sdk.databases import quote
from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType


def statements(
    mode: str, table: str, rows: Rows, types: Mapping[str, str], *, deleting: bool, writing: bool
) -> list[str]:
    """For rows in the temporary table, in their order; without deletions they have no flag.

    They have their places only where keys are not exact.

    Where rows are merged, each key is there once, and keys are in order, so that two transactions
    wait for each other instead of being in each other's way.
    """
    made = [] if mode == "insert" or keys_are_exact(rows, types) else [_thinned(rows, types)]
    if deleting:
        made.append(_deleted(table, rows, types))
    if writing and not (mode == "update" and set(rows.columns) == set(rows.keys)):
        made.append(_WRITES[mode](table, rows, types, f"NOT {DELETED}" if deleting else "true"))
    return made


def _inserted(table: str, rows: Rows, types: Mapping[str, str], wanted: str) -> str:
    columns, chosen = _names(rows.columns), _cast(rows, types)
    return f"INSERT INTO {table} ({columns}) SELECT {chosen} FROM {BATCH} WHERE {wanted}"


def _upserted(table: str, rows: Rows, types: Mapping[str, str], wanted: str) -> str:
    changed = [name for name in rows.columns if name not in rows.keys]
    then = (
        "UPDATE SET " + ", ".join(f"{quote(name)} = EXCLUDED.{quote(name)}" for name in changed)
        if changed
        else "NOTHING"
    )
    added = _inserted(table, rows, types, wanted)
    return f"{added} ON CONFLICT ({_names(rows.keys)}) DO {then}"


def _updated(table: str, rows: Rows, types: Mapping[str, str], wanted: str) -> str:
    changed = [name for name in rows.columns if name not in rows.keys]
    settings = ", ".join(f"{quote(name)} = {_one(name, rows, types)}" for name in changed)
    return (
        f"UPDATE {table} AS t SET {settings} FROM {BATCH} AS b "
        f"WHERE {wanted} AND {_same(rows, types)}"
    )


_WRITES: Final[Mapping[str, Callable[[str, Rows, Mapping[str, str], str], str]]] = {
    "insert": _inserted,
    "upsert": _upserted,
    "update": _updated,
}


def keys_are_exact(rows: Rows, types: Mapping[str, str]) -> bool:
    """Whether keys that differ in records differ in the table: texts of one UUID may not."""
    return all(types[name] in _EXACT.get(_kind(rows.schemas[name]), ()) for name in rows.keys)


def _kind(schema: Schema) -> str | SchemaType:
    return schema.logical or schema.type


_WALL_CLOCK: Final = "timestamp without time zone"
_INTEGERS: Final = ("smallint", "integer", "bigint", "numeric")
_EXACT: Final[Mapping[str | SchemaType, Sequence[str]]] = {
    SchemaType.INT8: _INTEGERS,
    SchemaType.INT16: _INTEGERS,
    SchemaType.INT32: _INTEGERS,
    SchemaType.INT64: _INTEGERS,
    SchemaType.BOOLEAN: ("boolean",),
    SchemaType.STRING: ("text", "character varying"),
    SchemaType.BYTES: ("bytea",),
    DECIMAL: ("numeric",),
    DATE: ("date",),
    TIME: ("time without time zone",),
    TIMESTAMP: (_WALL_CLOCK, "timestamp with time zone"),
}
"""Types of columns that keep values of a schema apart."""


def _thinned(rows: Rows, types: Mapping[str, str]) -> str:
    """Of rows with one key, as the table sees it, the last one stays."""
    same = " AND ".join(f"{_one(n, rows, types, 'a')} = {_one(n, rows, types)}" for n in rows.keys)
    return f"DELETE FROM {BATCH} AS a USING {BATCH} AS b WHERE {same} AND a.{PLACE} < b.{PLACE}"


def _deleted(table: str, rows: Rows, types: Mapping[str, str]) -> str:
    return f"DELETE FROM {table} AS t USING {BATCH} AS b WHERE {DELETED} AND {_same(rows, types)}"


def _same(rows: Rows, types: Mapping[str, str]) -> str:
    return " AND ".join(f"t.{quote(name)} = {_one(name, rows, types)}" for name in rows.keys)


def _names(names: Sequence[str]) -> str:
    return ", ".join(quote(name) for name in names)


def _cast(rows: Rows, types: Mapping[str, str]) -> str:
    return ", ".join(_value(quote(name), name, rows, types) for name in rows.columns)


def _one(name: str, rows: Rows, types: Mapping[str, str], copied: str = "b") -> str:
    return _value(f"{copied}.{quote(name)}", name, rows, types)


def _value(copied: str, name: str, rows: Rows, types: Mapping[str, str]) -> str:
    """As the column's type without its length: what is too long is refused, not cut."""
    moment = rows.schemas[name].logical == TIMESTAMP
    if moment and types[name] == _WALL_CLOCK and rows.zone != "UTC":
        return f"(CAST({copied} AS timestamptz) AT TIME ZONE '{rows.zone}')"
    return f"CAST({copied} AS {types[name]})"
