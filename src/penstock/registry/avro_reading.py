"""Avro's schemas as Connect's, as Confluent's AvroConverter reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from penstock.columnar.json_text import Misfit
from penstock.registry.avro_defaults import read_default
from penstock.registry.avro_writing import DEFAULT_NAME, MAP_ENTRY, NAMESPACE, PRECISION
from penstock.sdk.schema import Schema, SchemaType

ENUM: Final = "io.confluent.connect.avro.Enum"
FIXED_SIZE: Final = "connect.fixed.size"
_TYPES: Final = {
    "int": SchemaType.INT32,
    "long": SchemaType.INT64,
    "float": SchemaType.FLOAT32,
    "double": SchemaType.FLOAT64,
    "boolean": SchemaType.BOOLEAN,
    "string": SchemaType.STRING,
    "bytes": SchemaType.BYTES,
}
_NARROW: Final = {"int8": SchemaType.INT8, "int16": SchemaType.INT16}
_LOGICAL: Final = {
    ("int", "date"): Schema.date(),
    ("int", "time-millis"): Schema.time(),
    ("long", "timestamp-millis"): Schema.timestamp(),
}
_UNSUPPORTED: Final = "a union of more than one type and null is not supported: {}"
Json = Mapping[str, Any]


class AvroReader:
    """Reads one Avro schema, whose parts may refer to each other by name."""

    def __init__(self) -> None:
        self._named: dict[str, Schema | None] = {}
        """Complete ones; None for those that are being read."""

    def schema(self, avro: Any, namespace: str = "") -> Schema:
        """The schema in Connect's terms; Misfit if it has none for it."""
        if isinstance(avro, str):
            return Schema(_TYPES[avro]) if avro in _TYPES else self._reference(avro, namespace)
        if isinstance(avro, list):
            return self._union(avro, namespace)
        if not isinstance(avro, dict) or "type" not in avro:
            raise Misfit(f"{avro!r} is not an Avro schema")
        if avro["type"] in ("record", "enum", "fixed"):
            return self._define(avro, namespace)
        return _described(self._unnamed(avro, namespace), avro)

    def _reference(self, name: str, namespace: str) -> Schema:
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        found = full if full in self._named else name
        if found not in self._named:
            raise Misfit(f"the Avro type {name} is not defined")
        schema = self._named[found]
        if schema is None:
            raise Misfit(f"{found} contains itself, which Connect's schemas cannot")
        return schema

    def _union(self, avro: list[Any], namespace: str) -> Schema:
        others = [each for each in avro if each != "null"]
        if len(others) != 1:
            raise Misfit(_UNSUPPORTED.format(avro))
        return replace(self.schema(others[0], namespace), optional=len(avro) > 1)

    def _define(self, avro: Json, namespace: str) -> Schema:
        space, _, name = str(avro.get("name", "")).rpartition(".")
        space = space or avro.get("namespace", namespace)
        full = f"{space}.{name}" if space else name
        self._named[full] = None
        made = _described(self._body(avro, full, space), avro)
        self._named[full] = made
        return made

    def _body(self, avro: Json, full: str, space: str) -> Schema:
        match avro["type"]:
            case "enum":
                symbols = {f"{ENUM}.{symbol}": symbol for symbol in avro["symbols"]}
                return Schema.string(parameters={ENUM: full, **symbols})
            case "fixed" if avro.get("logicalType") == "decimal":
                return _decimal(avro)
            case "fixed":
                return Schema.bytes(name=full, parameters={FIXED_SIZE: str(avro["size"])})
        fields = {each["name"]: self._field(each, space) for each in avro["fields"]}
        default = full.startswith(f"{NAMESPACE}.{DEFAULT_NAME}")
        return Schema.struct(fields, name=None if default else full, doc=avro.get("doc"))

    def _field(self, field: Json, space: str) -> Schema:
        schema = self.schema(field["type"], space)
        default = read_default(field.get("default"), schema)
        return schema if default is None else replace(schema, default=default)

    def _unnamed(self, avro: Json, namespace: str) -> Schema:
        kind = avro["type"]
        if kind == "array":
            return self._array(avro, namespace)
        if kind == "map":
            return Schema.map(Schema.string(), self.schema(avro["values"], namespace))
        logical = (kind, avro.get("logicalType")) if isinstance(kind, str) else None
        if logical == ("bytes", "decimal"):
            return _decimal(avro)
        if logical in _LOGICAL:
            return _LOGICAL[logical]
        narrow = _NARROW.get(str(avro.get("connect.type")))
        return Schema(narrow) if narrow and kind == "int" else self.schema(kind, namespace)

    def _array(self, avro: Json, namespace: str) -> Schema:
        items = self.schema(avro["items"], namespace)
        if not is_map_entry(avro["items"]):
            return Schema.array(items)
        return Schema.map(items.fields["key"], items.fields["value"])


def is_map_entry(avro: Any) -> bool:
    """Whether this is the record of one entry of a map whose keys are no strings."""
    return isinstance(avro, dict) and avro.get("connect.internal.type") == MAP_ENTRY


def _decimal(avro: Json) -> Schema:
    precision = avro.get("precision")
    told = {} if precision in (None, 64) else {PRECISION: str(precision)}
    schema = Schema.decimal(int(avro.get("scale", 0)))
    return replace(schema, parameters={**schema.parameters, **told})


def _described(schema: Schema, avro: Json) -> Schema:
    """With what is written beside the type for Connect."""
    told: dict[str, Any] = {
        key: avro[f"connect.{key}"]
        for key in ("name", "version", "doc")
        if f"connect.{key}" in avro
    }
    if isinstance(parameters := avro.get("connect.parameters"), dict):
        told["parameters"] = {**schema.parameters, **{k: str(v) for k, v in parameters.items()}}
    return replace(schema, **told) if told else schema


def plain_avro(avro: Any) -> Any:
    """The schema with which values are read and written: numbers instead of dates and times.

    Decimals stay, those excepted that Arrow cannot hold.
    """
    if isinstance(avro, list):
        return [plain_avro(each) for each in avro]
    if not isinstance(avro, dict):
        return avro
    left = {key: _inner_avro(key, value) for key, value in avro.items()}
    if left.get("logicalType") != "decimal" or not -38 <= int(left.get("scale", 0)) <= 38:
        left.pop("logicalType", None)
    return left


def _inner_avro(key: str, value: Any) -> Any:
    if key == "fields":
        return [{**each, "type": plain_avro(each["type"])} for each in value]
    return plain_avro(value) if key in ("type", "items", "values") else value
