"""Connect's schemas as JSON Schema, as Confluent's JsonSchemaConverter makes them."""

from __future__ import annotations

from typing import Any, Final

import orjson

from penstock.columnar.json_text import JsonOptions, Misfit, value_text
from penstock.sdk.schema import DECIMAL, Schema, SchemaType

CONNECT_TYPES: Final = {
    SchemaType.INT8: "int8",
    SchemaType.INT16: "int16",
    SchemaType.INT32: "int32",
    SchemaType.INT64: "int64",
    SchemaType.FLOAT32: "float32",
    SchemaType.FLOAT64: "float64",
    SchemaType.BYTES: "bytes",
    SchemaType.MAP: "map",
}
_TYPES: Final = {
    SchemaType.INT8: "integer",
    SchemaType.INT16: "integer",
    SchemaType.INT32: "integer",
    SchemaType.INT64: "integer",
    SchemaType.FLOAT32: "number",
    SchemaType.FLOAT64: "number",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "string",
    SchemaType.ARRAY: "array",
    SchemaType.STRUCT: "object",
}


def json_schema(schema: Schema, options: JsonOptions) -> dict[str, Any]:
    """The JSON Schema of values of ``schema``."""
    made = _inner(schema, options)
    if schema.default is not None:
        made["default"] = orjson.loads(value_text(schema.default, schema, options))
    return {"oneOf": [{"type": "null"}, made]} if schema.optional else made


def _inner(schema: Schema, options: JsonOptions) -> dict[str, Any]:
    made: dict[str, Any] = {**_shape(schema, options)}
    if schema.logical == DECIMAL and options.numeric_decimals:
        made["type"] = "number"
    if schema.type in CONNECT_TYPES:
        made["connect.type"] = CONNECT_TYPES[schema.type]
    if schema.name is not None:
        made["title"] = schema.name
    if schema.doc is not None:
        made["description"] = schema.doc
    if schema.version is not None:
        made["connect.version"] = schema.version
    if schema.parameters:
        made["connect.parameters"] = dict(schema.parameters)
    return made


def _shape(schema: Schema, options: JsonOptions) -> dict[str, Any]:
    match schema.type:
        case SchemaType.ARRAY:
            return {"type": "array", "items": json_schema(_there(schema.value_schema), options)}
        case SchemaType.STRUCT:
            return _struct(schema, options)
        case SchemaType.MAP:
            return _map(_there(schema.key_schema), _there(schema.value_schema), options)
        case _:
            return {"type": _TYPES[schema.type]}


def _struct(schema: Schema, options: JsonOptions) -> dict[str, Any]:
    properties = {
        name: {**json_schema(inner, options), "connect.index": index}
        for index, (name, inner) in enumerate(schema.fields.items())
    }
    needed = [n for n, inner in schema.fields.items() if not inner.optional]
    required = {"required": needed} if needed else {}
    return {"type": "object", "properties": properties, **required}


def _map(keys: Schema, values: Schema, options: JsonOptions) -> dict[str, Any]:
    if keys.type is SchemaType.STRING:
        return {"type": "object", "additionalProperties": json_schema(values, options)}
    entry = {"key": json_schema(keys, options), "value": json_schema(values, options)}
    return {"type": "array", "items": {"type": "object", "properties": entry}}


def _there(schema: Schema | None) -> Schema:
    if schema is None:
        raise Misfit("a schema of type ARRAY or MAP needs the schema of what is in it")
    return schema
