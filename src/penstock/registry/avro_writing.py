"""Connect's schemas as Avro's, as Confluent's AvroConverter makes them."""

from __future__ import annotations

from typing import Any, Final

from penstock.columnar.json_text import Misfit
from penstock.registry.avro_defaults import write_default
from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType

NAMESPACE: Final = "io.confluent.connect.avro"
DEFAULT_NAME: Final = "ConnectDefault"
MAP_ENTRY: Final = "MapEntry"
PRECISION: Final = "connect.decimal.precision"

_TYPES: Final = {
    SchemaType.INT8: "int",
    SchemaType.INT16: "int",
    SchemaType.INT32: "int",
    SchemaType.INT64: "long",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
}
_LOGICAL: Final = {DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}
_NARROW: Final = {SchemaType.INT8: "int8", SchemaType.INT16: "int16"}


class AvroWriter:
    """Makes one Avro schema: a record is defined where it comes first, and named after that."""

    def __init__(self) -> None:
        self._defined: dict[str, Schema] = {}
        self._unnamed = 0

    def avro(self, schema: Schema) -> Any:
        """The JSON of the Avro schema; Misfit if Avro has none for it."""
        inner = self._inner(schema)
        if not schema.optional:
            return inner
        return [inner, "null"] if schema.default is not None else ["null", inner]

    def _inner(self, schema: Schema) -> Any:
        match schema.type:
            case SchemaType.ARRAY:
                made = {"type": "array", "items": self.avro(_there(schema.value_schema))}
            case SchemaType.MAP:
                made = self._map(schema)
            case SchemaType.STRUCT:
                return self._record(schema)
            case _:
                made = _primitive(schema)
        made |= _extras(schema)
        if schema.logical in _LOGICAL:
            made["logicalType"] = _LOGICAL[schema.logical]
        elif schema.logical == DECIMAL:
            made["logicalType"] = "decimal"
        return made["type"] if made.keys() == {"type"} else made

    def _map(self, schema: Schema) -> dict[str, Any]:
        keys, values = _there(schema.key_schema), _there(schema.value_schema)
        if by_name(schema):
            return {"type": "map", "values": self.avro(values)}
        self._unnamed += 1
        entry = Schema.struct({"key": keys, "value": values})
        name = MAP_ENTRY if self._unnamed == 1 else f"{MAP_ENTRY}{self._unnamed}"
        fields = [self._field(*each) for each in entry.fields.items()]
        record = {"type": "record", "name": name, "namespace": NAMESPACE, "fields": fields}
        return {"type": "array", "items": {**record, "connect.internal.type": MAP_ENTRY}}

    def _record(self, schema: Schema) -> Any:
        if schema.name in self._defined:
            if self._defined[schema.name] != _bare(schema):
                raise Misfit(f"two different schemas have the name {schema.name}")
            return schema.name
        namespace, name = self._name(schema)
        if schema.name:
            self._defined[schema.name] = _bare(schema)
        fields = [self._field(*each) for each in schema.fields.items()]
        record: dict[str, Any] = {"type": "record", "name": name, "namespace": namespace}
        doc = {"doc": schema.doc} if schema.doc else {}
        return {**record, **doc, "fields": fields, **_extras(schema)}

    def _name(self, schema: Schema) -> tuple[str, str]:
        if schema.name:
            namespace, _, name = schema.name.rpartition(".")
            return namespace, name
        self._unnamed += 1
        return NAMESPACE, DEFAULT_NAME + (str(self._unnamed) if self._unnamed > 1 else "")

    def _field(self, name: str, schema: Schema) -> dict[str, Any]:
        field = {"name": name, "type": self.avro(schema)}
        if schema.default is not None:
            field["default"] = write_default(schema)
        elif schema.optional:
            field["default"] = None
        return field


def by_name(schema: Schema) -> bool:
    """Whether a MAP is one of Avro: its keys are strings, and there."""
    keys = _there(schema.key_schema)
    return keys.type is SchemaType.STRING and not keys.optional


def _primitive(schema: Schema) -> dict[str, Any]:
    made: dict[str, Any] = {"type": _TYPES[schema.type]}
    if schema.logical == DECIMAL:
        made |= {"scale": schema.scale, "precision": int(schema.parameters.get(PRECISION, "64"))}
    if schema.type in _NARROW:
        made["connect.type"] = _NARROW[schema.type]
    return made


def _extras(schema: Schema) -> dict[str, Any]:
    """What Avro has no word for."""
    told: dict[str, Any] = {}
    if schema.doc is not None:
        told["connect.doc"] = schema.doc
    if schema.version is not None:
        told["connect.version"] = schema.version
    if schema.parameters:
        told["connect.parameters"] = dict(schema.parameters)
    if schema.name is not None:
        told["connect.name"] = schema.name
    return told


def _bare(schema: Schema) -> Schema:
    return Schema.struct(schema.fields, name=schema.name)


def _there(schema: Schema | None) -> Schema:
    if schema is None:
        raise Misfit("a schema of type ARRAY or MAP needs the schema of what is in it")
    return schema
