"""The mapping of an index, made from a record's schema as Confluent's connector makes it."""

from __future__ import annotations

from typing import Any, Final

from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType

_TYPES: Final = {
    SchemaType.INT8: "byte",
    SchemaType.INT16: "short",
    SchemaType.INT32: "integer",
    SchemaType.INT64: "long",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.BYTES: "binary",
}
_LOGICAL: Final = {DATE: "date", TIME: "date", TIMESTAMP: "date", DECIMAL: "double"}
_TEXT: Final = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}
_WITH_DEFAULT: Final = (SchemaType.BOOLEAN, SchemaType.FLOAT32, SchemaType.FLOAT64)


def mapping_of(schema: Schema, *, compact_maps: bool = True) -> dict[str, Any]:
    """The mapping of a value. Arrays have none of their own: any field may have many values."""
    if schema.name in _LOGICAL:
        return {"type": _LOGICAL[schema.name]}
    if schema.type is SchemaType.STRUCT:
        fields = schema.fields.items()
        return _object({n: mapping_of(s, compact_maps=compact_maps) for n, s in fields})
    if schema.type is SchemaType.ARRAY:
        return mapping_of(_inner(schema.value_schema), compact_maps=compact_maps)
    if schema.type is SchemaType.MAP:
        return _of_map(schema, compact_maps)
    return _plain(schema)


def _plain(schema: Schema) -> dict[str, Any]:
    if schema.type is SchemaType.STRING:
        return dict(_TEXT)
    made: dict[str, Any] = {"type": _TYPES[schema.type]}
    number = schema.type.value.startswith("INT") or schema.type in _WITH_DEFAULT
    if number and schema.default is not None:
        made["null_value"] = schema.default
    return made


def _of_map(schema: Schema, compact_maps: bool) -> dict[str, Any]:
    key, item = _inner(schema.key_schema), _inner(schema.value_schema)
    if compact_maps and key.type is SchemaType.STRING:
        return {"type": "object"}  # whose fields are known once there are any
    inner = {"key": key, "value": item}
    return _object({n: mapping_of(s, compact_maps=compact_maps) for n, s in inner.items()})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"properties": properties}


def _inner(schema: Schema | None) -> Schema:
    assert schema is not None  # noqa: S101 (arrays and maps have one)
    return schema
