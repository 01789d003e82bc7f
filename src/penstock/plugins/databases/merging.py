"""The statements that bring copied rows into their table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from penstock.plugins.databases.postgres_types import quote
from penstock.plugins.databases.write_session import BATCH
from penstock.plugins.databases.written_rows import DELETED, ORDER, Rows


def statements(
    mode: str, table: str, rows: Rows, types: Mapping[str, str], *, deleting: bool, writing: bool
) -> list[str]:
    """For rows in the temporary table. Of several with one key, the last one counts.

    Keys are written in order, so that two transactions wait for each other instead of being in
    each other's way.
    """
    made = [_deleted(table, rows, types)] if deleting else []
    if writing and not (mode == "update" and set(rows.columns) == set(rows.keys)):
        made.append(_WRITES[mode](table, rows, types))
    return made


def _inserted(table: str, rows: Rows, types: Mapping[str, str]) -> str:
    columns = _names(rows.columns)
    chosen = _cast(rows.columns, types)
    return f"INSERT INTO {table} ({columns}) SELECT {chosen} FROM {BATCH} ORDER BY {ORDER}"


def _last(rows: Rows) -> str:
    """The last row of each key, in the order of the keys."""
    keys = _names(rows.keys)
    return f"SELECT DISTINCT ON ({keys}) * FROM {BATCH} ORDER BY {keys}, {ORDER} DESC"


def _upserted(table: str, rows: Rows, types: Mapping[str, str]) -> str:
    columns, keys = _names(rows.columns), _names(rows.keys)
    changed = [name for name in rows.columns if name not in rows.keys]
    then = (
        "UPDATE SET " + ", ".join(f"{quote(name)} = EXCLUDED.{quote(name)}" for name in changed)
        if changed
        else "NOTHING"
    )
    chosen = f"SELECT {_cast(rows.columns, types)} FROM ({_last(rows)}) AS b WHERE NOT {DELETED}"
    return f"INSERT INTO {table} ({columns}) {chosen} ON CONFLICT ({keys}) DO {then}"


def _updated(table: str, rows: Rows, types: Mapping[str, str]) -> str:
    changed = [name for name in rows.columns if name not in rows.keys]
    settings = ", ".join(f"{quote(name)} = {_one(name, types)}" for name in changed)
    return (
        f"UPDATE {table} AS t SET {settings} FROM ({_last(rows)}) AS b "
        f"WHERE NOT {DELETED} AND {_same(rows, types)}"
    )


_WRITES: Final[Mapping[str, Callable[[str, Rows, Mapping[str, str]], str]]] = {
    "insert": _inserted,
    "upsert": _upserted,
    "update": _updated,
}


def _deleted(table: str, rows: Rows, types: Mapping[str, str]) -> str:
    return (
        f"DELETE FROM {table} AS t USING ({_last(rows)}) AS b "
        f"WHERE {DELETED} AND {_same(rows, types)}"
    )


def _same(rows: Rows, types: Mapping[str, str]) -> str:
    return " AND ".join(f"t.{quote(name)} = {_one(name, types)}" for name in rows.keys)


def _names(names: Sequence[str]) -> str:
    return ", ".join(quote(name) for name in names)


def _cast(names: Sequence[str], types: Mapping[str, str]) -> str:
    """To the column's type without its length: what is too long is refused, not cut."""
    return ", ".join(f"CAST({quote(name)} AS {types[name]})" for name in names)


def _one(name: str, types: Mapping[str, str]) -> str:
    return f"CAST(b.{quote(name)} AS {types[name]})"
