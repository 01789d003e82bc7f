"""Schemas as the JSON that Kafka Connect's JsonConverter puts beside the payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from penstock.columnar.json_text import JsonOptions, Misfit, value_text
from penstock.columnar.json_values import value_of
from penstock.sdk.schema import Schema, SchemaType

_NAMES: Final[Mapping[SchemaType, str]] = {
    SchemaType.INT8: "int8",
    SchemaType.INT16: "int16",
    SchemaType.INT32: "int32",
    SchemaType.INT64: "int64",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
    SchemaType.ARRAY: "array",
    SchemaType.MAP: "map",
    SchemaType.STRUCT: "struct",
}
_TYPES: Final = {name: kind for kind, name in _NAMES.items()}


def write_schema(schema: Schema, options: JsonOptions) -> bytes:
    """The JSON of a schema, with the keys in Kafka Connect's order."""
    return orjson.dumps(_to_json(schema, options))


def read_schema(json: Any, options: JsonOptions) -> Schema:
    """The schema that this JSON describes; ``Misfit`` says what is wrong with it."""
    kind = json.get("type") if isinstance(json, dict) else None
    if not isinstance(kind, str):
        raise Misfit("Schema must contain 'type' field")
    if kind not in _TYPES:
        raise Misfit(f"Unknown schema type: {kind}")
    schema = Schema(_TYPES[kind], **_extras(json), **_inner(_TYPES[kind], json, options))
    return _with_default(schema, json.get("default"), options)


def _to_json(schema: Schema, options: JsonOptions) -> dict[str, Any]:
    json = {"type": _NAMES[schema.type], **_inner_json(schema, options)}
    json["optional"] = schema.optional
    for key in ("name", "version", "doc"):
        if getattr(schema, key) is not None:
            json[key] = getattr(schema, key)
    if schema.parameters:
        json["parameters"] = dict(schema.parameters)
    if schema.default is not None:
        json["default"] = orjson.Fragment(value_text(schema.default, schema, options))
    return json


def _inner_json(schema: Schema, options: JsonOptions) -> dict[str, Any]:
    if schema.type is SchemaType.STRUCT:
        fields = schema.fields.items()
        return {"fields": [{**_to_json(inner, options), "field": name} for name, inner in fields]}
    json = {}
    if schema.key_schema is not None:
        json["keys"] = _to_json(schema.key_schema, options)
    if schema.value_schema is not None:
        key = "items" if schema.type is SchemaType.ARRAY else "values"
        json[key] = _to_json(schema.value_schema, options)
    return json


def _extras(json: dict[str, Any]) -> dict[str, Any]:
    """What is there and of the right type; Kafka Connect overlooks the rest."""
    wanted = {"name": str, "version": int, "doc": str}
    extras = {k: json[k] for k, kind in wanted.items() if type(json.get(k)) is kind}
    parameters = json.get("parameters")
    if isinstance(parameters, dict):
        if not all(isinstance(value, str) for value in parameters.values()):
            raise Misfit("Schema parameters must have string values.")
        extras["parameters"] = parameters
    return {"optional": json.get("optional") is True, **extras}


def _inner(kind: SchemaType, json: dict[str, Any], options: JsonOptions) -> dict[str, Any]:
    match kind:
        case SchemaType.ARRAY:
            items = _part(json, "items", "Array schema did not specify the element type")
            return {"value_schema": read_schema(items, options)}
        case SchemaType.MAP:
            keys = _part(json, "keys", "Map schema did not specify the key type")
            values = _part(json, "values", "Map schema did not specify the value type")
            return {
                "key_schema": read_schema(keys, options),
                "value_schema": read_schema(values, options),
            }
        case SchemaType.STRUCT:
            return {"fields": _fields(json, options)}
        case _:
            return {}


def _part(json: dict[str, Any], key: str, missing: str) -> Any:
    if json.get(key) is None:
        raise Misfit(missing)
    return json[key]


def _fields(json: dict[str, Any], options: JsonOptions) -> dict[str, Schema]:
    fields = json.get("fields")
    if not isinstance(fields, list):
        raise Misfit('Struct schema\'s "fields" argument is not an array.')
    for field in fields:
        if not isinstance(field, dict) or not isinstance(field.get("field"), str):
            raise Misfit("Struct schema's field name not specified properly")
    return {field["field"]: read_schema(field, options) for field in fields}


def _with_default(schema: Schema, default: Any, options: JsonOptions) -> Schema:
    if default is None:
        return schema
    return replace(schema, default=value_of(default, schema, options))
