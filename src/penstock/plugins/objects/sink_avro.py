"""Avro's container format. Needs the extra ``avro``."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import IO, Any, Final

import pyarrow as pa
from fastavro.schema import parse_schema
from fastavro.write import Writer

from penstock.plugins.objects.sink_columns import chosen_columns
from penstock.plugins.objects.sink_compression import compressed
from penstock.plugins.objects.sink_config import SinkSettings
from penstock.plugins.objects.sink_formats import ObjectFormat
from penstock.plugins.objects.sink_json import without_pairs
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType, from_field

MARKER: Final = b"penstock-objects"
"""Between blocks; the same in every file, so that a file written again has the same bytes."""

STORED_SCHEMA: Final = "penstock.arrow.schema"
"""The file's metadata that says of Connect's schemas what Avro's do not, as an Arrow schema."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_PLAIN: Final = {
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
_LOGICAL: Final[dict[str, Any]] = {
    DATE: {"type": "int", "logicalType": "date"},
    TIME: {"type": "int", "logicalType": "time-millis"},
    TIMESTAMP: {"type": "long", "logicalType": "timestamp-millis"},
}


class AvroFormat(ObjectFormat):
    """A record for each record; another schema needs another object."""

    def __init__(self, file: IO[bytes], settings: SinkSettings, first: pa.RecordBatch) -> None:
        super().__init__(file, settings)
        self._schema = chosen_columns(first.slice(0, 0), settings).schema
        self._out = compressed(file, settings.compression)
        schema = parse_schema(AvroNames().record("ConnectRecord", self._schema))
        out: Any = self._out
        told = {STORED_SCHEMA: base64.b64encode(self._schema.serialize()).decode()}
        self._writer = Writer(out, schema, sync_marker=MARKER, metadata=told)

    def takes(self, batch: pa.RecordBatch) -> bool:
        schema = chosen_columns(batch.slice(0, 0), self._settings).schema
        return bool(schema.equals(self._schema, check_metadata=True))

    def write(self, batch: pa.RecordBatch) -> int:
        table = chosen_columns(batch, self._settings)
        for row in table.to_pylist():
            self._writer.write(without_pairs(row))
        return int(table.nbytes)

    def finish(self) -> None:
        self._writer.flush()
        self._out.close()


class AvroNames:
    """Connect's schemas as Avro's; every record type has a name of its own."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def record(self, name: str, fields: Any) -> dict[str, Any]:
        """The record type of these Arrow fields."""
        made = [{"name": _checked(each.name), "type": self._field(each)} for each in fields]
        return {"type": "record", "name": self._unused(name), "fields": made}

    def _field(self, field: pa.Field) -> Any:
        if pa.types.is_null(field.type):
            return "null"
        if field.name == "headers" and pa.types.is_list(field.type):
            return ["null", self._headers()]
        schema = from_field(field)
        kind = "string" if schema is None else self._type(schema, field.name)
        return ["null", kind] if field.nullable or schema is None or schema.optional else kind

    def _headers(self) -> Any:
        fields = [
            {"name": "key", "type": "string"},
            {"name": "value", "type": ["null", "bytes"]},
        ]
        return {"type": "array", "items": {"type": "record", "name": "Header", "fields": fields}}

    def _type(self, schema: Schema, name: str) -> Any:
        if schema.logical == DECIMAL:
            scale = {"precision": 38, "scale": schema.scale}
            return {"type": "bytes", "logicalType": "decimal", **scale}
        if schema.logical in _LOGICAL:
            return _LOGICAL[schema.logical]
        if schema.type in _PLAIN:
            return _PLAIN[schema.type]
        return _COMPLEX[schema.type](self, schema, name)

    def _struct(self, schema: Schema, name: str) -> Any:
        own = schema.name if schema.name and _NAME.fullmatch(schema.name) else name
        fields = [
            {"name": _checked(each), "type": self._inner(inner, each)}
            for each, inner in schema.fields.items()
        ]
        return {"type": "record", "name": self._unused(own), "fields": fields}

    def _array(self, schema: Schema, name: str) -> Any:
        return {"type": "array", "items": self._inner(schema.value_schema, name)}

    def _map(self, schema: Schema, name: str) -> Any:
        if schema.key_schema is None or schema.key_schema.type is not SchemaType.STRING:
            raise _impossible(f"the map {name} has keys that are not strings")
        return {"type": "map", "values": self._inner(schema.value_schema, name)}

    def _inner(self, schema: Schema | None, name: str) -> Any:
        if schema is None:
            return ["null", "string"]
        kind = self._type(schema, name)
        return ["null", kind] if schema.optional else kind

    def _unused(self, name: str) -> str:
        free, number = _checked(name, dots=True), 1
        while free in self._used:
            number += 1
            free = f"{name}{number}"
        self._used.add(free)
        return free


_COMPLEX: Final[dict[SchemaType, Callable[[AvroNames, Schema, str], Any]]] = {
    SchemaType.STRUCT: AvroNames._struct,
    SchemaType.ARRAY: AvroNames._array,
    SchemaType.MAP: AvroNames._map,
}


def _checked(name: str, *, dots: bool = False) -> str:
    if _NAME.fullmatch(name) and (dots or "." not in name):
        return name
    raise _impossible(f"{name} is not a name in Avro")


def _impossible(why: str) -> RecordError:
    return RecordError(f"Its schema cannot be written as Avro: {why}.", row=0)
