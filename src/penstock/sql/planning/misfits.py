"""What a record has for a column and is not of its type: conditions in Spark's SQL.

They are over what ``decoding.parsed_of`` gives. Decoding gives NULL for what cannot be read, so
NULL out of something means a misfit; NULL in JSON, and a field that is not there, are fine.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.sql.catalog.source import OBJECTS, Source
from penstock.sql.planning.decoding import (
    CORRUPT,
    MAP,
    column_texts,
    field_of,
    from_json,
    object_of,
)
from penstock.sql.planning.spark_types import quoted, text
from penstock.sql.planning.troubles import either
from penstock.sql.statements.types import ColumnDef, SqlType

UNCHECKED = ("VARCHAR",)
"""Anything is text."""
KEYLESS = "a row of a table needs a key"
RAW_KEY = "key IS NOT NULL"


def misfits(source: Source, names: Iterable[str]) -> dict[str, str]:
    """When which of these columns cannot be read, by what is then to be told."""
    wanted = set(names)
    chosen = [each for each in source.columns if each.name in wanted and each.role != "HEADERS"]
    found = {f"column {each.name} is no {each.type}": _misfit(source, each) for each in chosen}
    if source.value_format == "DELIMITED":
        count = len(source.values)
        told = f"the value has not {count} column{'' if count == 1 else 's'}"
        found[told] = f"v.{CORRUPT} IS NOT NULL"
    return {told: condition for told, condition in found.items() if condition}


def told_misfits(source: Source, names: Iterable[str], of: str = "") -> str:
    """What is wrong with a record, as a text; NULL if nothing is.

    No condition depends on another: so Spark reads a column once, for this and for its value.
    """
    found = misfits(source, names).items()
    told = ", ".join(f"if({when}, {text(what + of)}, NULL)" for what, when in found)
    return f"nullif(concat_ws('; ', {told}), '')" if told else "CAST(NULL AS STRING)"


def _misfit(source: Source, column: ColumnDef) -> str:
    if column.is_key:
        return _of_key(source, column)
    if source.has_objects:
        return _of_json(field_of("v", column.name), column.type)
    if column.type.name in UNCHECKED:
        return ""
    raw = f"v.{quoted(column.name)}" if source.value_format == "DELIMITED" else "v"
    return _lost(raw, column_texts(source)[column.name])


def _of_key(source: Source, column: ColumnDef) -> str:
    if len(source.keys) > 1:
        whole = object_of("k")
        inner = _of_json(field_of(whole, column.name), column.type)
        return either(f"({RAW_KEY} AND {whole} IS NULL)", inner)
    unread = f"({RAW_KEY} AND k IS NULL)" if source.key_format in OBJECTS else ""
    if column.type.name in UNCHECKED:
        return unread
    lost = _lost("NULLIF(k, 'null')", column_texts(source)[column.name])
    return either(unread, lost)


def _lost(raw: str, decoded: str) -> str:
    return f"({decoded} IS NULL AND {raw} IS NOT NULL)"


def _of_json(json: str, kind: SqlType) -> str:
    """The same within objects and lists."""
    if kind.name in UNCHECKED:
        return ""
    if kind.name == "STRUCT":
        return _within(json, MAP, [_of_json(field_of("s", n), each) for n, each in kind.fields])
    if kind.name == "ARRAY":
        inner = _of_json("x", kind.arguments[0])
        return _within(json, "'array<string>'", [f"exists(s, x -> {inner})" if inner else ""])
    if kind.name == "MAP":
        inner = _of_json("x", kind.arguments[1])
        return _within(json, MAP, [f"exists(map_values(s), x -> {inner})" if inner else ""])
    return _lost(json, from_json(json, kind))


def _within(json: str, shape: str, inner: Iterable[str]) -> str:
    """Whether it has not that shape, or something in it (``s``) does not fit."""
    wrong = either("s IS NULL", *inner)
    return f"({json} IS NOT NULL AND exists(array(from_json({json}, {shape})), s -> {wrong}))"
