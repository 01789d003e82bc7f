"""The columns of a topic, from records that are in it.

Understands JSON objects, and those that Kafka Connect's JsonConverter writes with their schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.sql.errors import StatementError
from penstock.sql.statements.types import VARCHAR, ColumnDef, SqlType

CONNECT_TYPES = {
    "boolean": "BOOLEAN",
    "int8": "INTEGER",
    "int16": "INTEGER",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "float": "DOUBLE",
    "double": "DOUBLE",
    "float32": "DOUBLE",
    "float64": "DOUBLE",
    "string": "VARCHAR",
    "bytes": "BYTES",
}
LOGICAL = {
    "org.apache.kafka.connect.data.Date": "DATE",
    "org.apache.kafka.connect.data.Time": "TIME",
    "org.apache.kafka.connect.data.Timestamp": "TIMESTAMP",
}


@dataclass(frozen=True)
class Sampled:
    """Key and value of a record, as they are in the topic."""

    key: bytes | None
    value: bytes | None


def value_columns(sample: Sequence[Sampled]) -> tuple[ColumnDef, ...]:
    """The fields of the values, in the order in which they first appear."""
    found: dict[str, SqlType | None] = {}
    for record in sample:
        for name, kind in _fields(_parsed(record.value)).items():
            found[name] = merged(found.get(name), kind)
    if not found:
        raise StatementError(
            "No columns can be inferred: the topic has no JSON objects. Declare them: "
            "CREATE … (column type, …) WITH (…)."
        )
    return tuple(ColumnDef(name, kind or VARCHAR) for name, kind in found.items())


def _parsed(value: bytes | None) -> Any:
    try:
        return None if value is None else json.loads(value)
    except ValueError:
        return None


def is_envelope(parsed: Any) -> bool:
    """Whether it is a value together with its schema."""
    return isinstance(parsed, dict) and parsed.keys() == {"schema", "payload"}


def _fields(parsed: Any) -> dict[str, SqlType | None]:
    if is_envelope(parsed):
        schema = parsed["schema"] or {}
        return {field["field"]: _of_schema(field) for field in schema.get("fields", ())}
    if not isinstance(parsed, dict):
        return {}
    return {name: _of_value(value) for name, value in parsed.items()}


def _of_schema(schema: dict[str, Any]) -> SqlType:
    logical = LOGICAL.get(schema.get("name", ""))
    kind = schema.get("type")
    if kind == "struct":
        fields = tuple((f["field"], _of_schema(f)) for f in schema.get("fields", ()))
        return SqlType("STRUCT", fields=fields)
    if kind == "array":
        return SqlType("ARRAY", (_of_schema(schema["items"]),))
    if kind == "map":
        return SqlType("MAP", (VARCHAR, _of_schema(schema["values"])))
    return SqlType(logical or CONNECT_TYPES.get(str(kind), "VARCHAR"))


def _of_value(value: Any) -> SqlType | None:
    """None where a null says nothing."""
    if value is None:
        return None
    if isinstance(value, bool):
        return SqlType("BOOLEAN")
    if isinstance(value, int | float):
        return SqlType("BIGINT" if isinstance(value, int) else "DOUBLE")
    if isinstance(value, list):
        return SqlType("ARRAY", (_common(map(_of_value, value)),))
    if isinstance(value, dict):
        fields = tuple((name, _of_value(each) or VARCHAR) for name, each in value.items())
        return SqlType("STRUCT", fields=fields)
    return VARCHAR


def _common(kinds: Iterable[SqlType | None]) -> SqlType:
    found: SqlType | None = None
    for kind in kinds:
        found = merged(found, kind)
    return found or VARCHAR


def merged(one: SqlType | None, other: SqlType | None) -> SqlType | None:
    """What holds both: numbers become DOUBLE, structs have the fields of both, else VARCHAR."""
    if one is None or other is None or one == other:
        return one or other
    if {one.name, other.name} == {"BIGINT", "DOUBLE"}:
        return SqlType("DOUBLE")
    if one.name == other.name == "STRUCT":
        fields: dict[str, SqlType | None] = dict(one.fields)
        for name, kind in other.fields:
            fields[name] = merged(fields.get(name), kind)
        return SqlType("STRUCT", fields=tuple((n, k or VARCHAR) for n, k in fields.items()))
    return VARCHAR


def keyed(
    columns: tuple[ColumnDef, ...], sample: Sequence[Sampled], role: str
) -> tuple[tuple[ColumnDef, ...], str]:
    """The columns with the record's key among them, and the key's format.

    The key is the field that has its value in every record, else a column ROWKEY. Without keys
    there is none: (the same columns, "").
    """
    keys = [record for record in sample if record.key is not None]
    if not keys or len(keys) < len(sample):
        return columns, ""
    same = next((c for c in columns if all(_is_key(record, c.name) for record in keys)), None)
    if same is None:
        return (ColumnDef("ROWKEY", VARCHAR, role), *columns), "KAFKA"
    rest = tuple(column for column in columns if column is not same)
    simple = same.type == VARCHAR and not is_envelope(_parsed(keys[0].key))
    return (ColumnDef(same.name, same.type, role), *rest), "KAFKA" if simple else "JSON"


def _is_key(record: Sampled, name: str) -> bool:
    parsed, key = _parsed(record.value), _parsed(record.key)
    fields = parsed["payload"] if is_envelope(parsed) else parsed
    if not isinstance(fields, dict):
        return record.value is None
    told = key["payload"] if is_envelope(key) else key
    value = fields.get(name)
    return value is not None and (value == told or str(value).encode() == record.key)


def without_key(topic: str) -> StatementError:
    """What a table lacks whose records have no keys."""
    return StatementError(
        f"No primary key can be told: there are records without a key in topic {topic}. "
        "Write them with one (for a JDBC source: 'key'='column'), or declare a stream."
    )
