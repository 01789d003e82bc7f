"""The statements that bring copied rows into their table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from penstock.plugins.databases.write_session import BATCH
from penstock.plugins.databases.written_rows import DELETED, Rows
from penstock.sdk.databases import quote


def statements(
    mode: str, table: str, rows: Rows, types: Mapping[str, str], *, deleting: bool, writing: bool
) -> list[str]:
    """For rows in the temporary table, in their order; without deletions they have no flag.

    Where rows are merged, each key is there once, and keys are in order, so that two transactions
    wait for each other instead of being in each other's way.
    """
    made = [_deleted(table, rows, types)] if deleting else []
    if writing and not (mode == "update" and set(rows.columns) == set(rows.keys)):
        made.append(_WRITES[mode](table, rows, types, f"NOT {DELETED}" if deleting else "true"))
    return made


def _inserted(table: str, rows: Rows, types: Mapping[str, str], wanted: str) -> str:
    columns, chosen = _names(rows.columns), _cast(rows.columns, types)
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
    settings = ", ".join(f"{quote(name)} = {_one(name, types)}" for name in changed)
    return (
        f"UPDATE {table} AS t SET {settings} FROM {BATCH} AS b "
        f"WHERE {wanted} AND {_same(rows, types)}"
    )


_WRITES: Final[Mapping[str, Callable[[str, Rows, Mapping[str, str], str], str]]] = {
    "insert": _inserted,
    "upsert": _upserted,
    "update": _updated,
}


def _deleted(table: str, rows: Rows, types: Mapping[str, str]) -> str:
    return f"DELETE FROM {table} AS t USING {BATCH} AS b WHERE {DELETED} AND {_same(rows, types)}"


def _same(rows: Rows, types: Mapping[str, str]) -> str:
    return " AND ".join(f"t.{quote(name)} = {_one(name, types)}" for name in rows.keys)


def _names(names: Sequence[str]) -> str:
    return ", ".join(quote(name) for name in names)


def _cast(names: Sequence[str], types: Mapping[str, str]) -> str:
    """To the column's type without its length: what is too long is refused, not cut."""
    return ", ".join(f"CAST({quote(name)} AS {types[name]})" for name in names)


def _one(name: str, types: Mapping[str, str]) -> str:
    return f"CAST(b.{quote(name)} AS {types[name]})"
