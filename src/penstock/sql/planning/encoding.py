"""Rows of a query as records: keys and values as bytes, in Spark's SQL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.sql.catalog.source import OBJECTS
from penstock.sql.errors import NotSupportedYet
from penstock.sql.planning.spark_types import quoted, text
from penstock.sql.statements.types import SqlType

JSON_OPTIONS = "map('ignoreNullFields', 'false')"


@dataclass(frozen=True)
class Cell:
    """A column of a record: what it is called, its type, and how it is computed."""

    name: str
    type: SqlType
    written: str


def value_of(cells: Sequence[Cell], form: str, delimiter: str) -> str:
    """The bytes of a value; of AVRO its JSON, of which a stage makes Avro."""
    if form in OBJECTS:
        return f"CAST(to_json({_struct(cells)}, {JSON_OPTIONS}) AS BINARY)"
    if form == "DELIMITED":
        return _delimited(cells, delimiter)
    if len(cells) > 1:
        raise NotSupportedYet("VALUE_FORMAT 'KAFKA' with more than one column")
    return to_kafka(cells[0].written, cells[0].type)


def enveloped(value: str, schema: Mapping[str, Any]) -> str:
    """The bytes of a JSON value with its schema, as Kafka Connect writes them."""
    head = text(f'{{"schema":{json.dumps(schema)},"payload":')
    return f"CAST(concat({head}, CAST({value} AS STRING), '}}') AS BINARY)"


def key_of(cells: Sequence[Cell], form: str) -> str:
    """The bytes of a key: NULL if it has no columns, or only such that are NULL.

    Of AVRO its JSON, as of values.
    """
    if not cells:
        return "CAST(NULL AS BINARY)"
    if len(cells) > 1:
        return _joint_key(cells, form)
    (cell,) = cells
    if form == "KAFKA":
        return to_kafka(cell.written, cell.type)
    if form in OBJECTS:
        return _json_key(cell)
    return f"CAST(CAST({_plain(cell.written, cell.type)} AS STRING) AS BINARY)"


def _joint_key(cells: Sequence[Cell], form: str) -> str:
    if form not in OBJECTS:
        raise NotSupportedYet(f"KEY_FORMAT '{form}' with more than one column")
    given = " OR ".join(f"{cell.written} IS NOT NULL" for cell in cells)
    encoded = f"to_json({_struct(cells)}, {JSON_OPTIONS})"
    return f"CAST(CASE WHEN {given} THEN {encoded} END AS BINARY)"


def _json_key(cell: Cell) -> str:
    """A value by itself: Spark writes it within an array, whose brackets are cut off."""
    listed = f"to_json(array({_plain(cell.written, cell.type)}))"
    bare = f"substring({listed}, 2, length({listed}) - 2)"
    return f"CAST(CASE WHEN {cell.written} IS NOT NULL THEN {bare} END AS BINARY)"


def _struct(cells: Sequence[Cell]) -> str:
    fields = (f"{text(cell.name)}, {_plain(cell.written, cell.type)}" for cell in cells)
    return f"named_struct({', '.join(fields)})"


def _delimited(cells: Sequence[Cell], delimiter: str) -> str:
    options = {
        "sep": delimiter,
        "escape": '"',
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
    }
    told = ", ".join(f"{text(key)}, {text(value)}" for key, value in options.items())
    return f"CAST(to_csv({_struct(cells)}, map({told})) AS BINARY)"


def _plain(value: str, kind: SqlType) -> str:
    """As texts have it: times are numbers, as in ksqlDB."""
    if kind.name == "TIMESTAMP":
        return f"unix_millis({value})"
    if kind.name == "DATE":
        return f"unix_date({value})"
    if kind.name == "BYTES":
        return f"base64({value})"
    return _nested(value, kind) if _has_times(kind) else value


def _nested(value: str, kind: SqlType) -> str:
    if kind.name == "STRUCT":
        fields = (f"{text(n)}, {_plain(f'{value}.{quoted(n)}', each)}" for n, each in kind.fields)
        return f"CASE WHEN {value} IS NOT NULL THEN named_struct({', '.join(fields)}) END"
    inner = _plain("x", kind.arguments[-1])
    if kind.name == "ARRAY":
        return f"transform({value}, x -> {inner})"
    return f"transform_values({value}, (n, x) -> {inner})"


def _has_times(kind: SqlType) -> bool:
    inside = [*kind.arguments, *(each for _, each in kind.fields)]
    return any(each.name in ("TIMESTAMP", "DATE", "BYTES") or _has_times(each) for each in inside)


def to_kafka(value: str, kind: SqlType) -> str:
    """The bytes of Kafka's own serializers."""
    if kind.name == "VARCHAR":
        return f"CAST({value} AS BINARY)"
    if kind.name == "BYTES":
        return value
    digits = f"lpad(hex(CAST({value} AS BIGINT)), 16, '0')"
    if kind.name == "BIGINT":
        return f"unhex({digits})"
    if kind.name == "INTEGER":
        return f"unhex(right({digits}, 8))"
    raise NotSupportedYet(f"format KAFKA with a column of type {kind}")
