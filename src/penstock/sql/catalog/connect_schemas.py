"""Kafka Connect's schema of a value, for readers of JSON that need one in every record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.sql.errors import NotSupportedYet
from penstock.sql.statements.types import ColumnDef, SqlType

DATA = "org.apache.kafka.connect.data."
PLAIN = {
    "BOOLEAN": "boolean",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "DOUBLE": "double",
    "VARCHAR": "string",
    "BYTES": "bytes",
}
NAMED = {"DATE": ("int32", "Date"), "TIMESTAMP": ("int64", "Timestamp")}
Json = dict[str, Any]


def value_schema(columns: Iterable[ColumnDef]) -> Json:
    """The schema of a record's value."""
    fields = [{"field": column.name, **_schema(column.type)} for column in columns]
    return {"type": "struct", "fields": fields, "optional": False}


def _schema(kind: SqlType) -> Json:
    if kind.name in PLAIN:
        return {"type": PLAIN[kind.name], "optional": True}
    if kind.name in NAMED:
        plain, name = NAMED[kind.name]
        return {"type": plain, "name": DATA + name, "version": 1, "optional": True}
    if kind.name == "ARRAY":
        return {"type": "array", "items": _schema(kind.arguments[0]), "optional": True}
    if kind.name == "MAP":
        keys, values = map(_schema, kind.arguments)
        return {"type": "map", "keys": keys, "values": values, "optional": True}
    if kind.name == "STRUCT":
        fields = [{"field": name, **_schema(each)} for name, each in kind.fields]
        return {"type": "struct", "fields": fields, "optional": True}
    raise NotSupportedYet(f"JSON_SCHEMAS_ENABLE with a column of type {kind}")
