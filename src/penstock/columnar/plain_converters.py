"""Converters for data that is text, or just bytes."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any, ClassVar

import orjson
import pyarrow as pa

from penstock.columnar.json_text import float_texts
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Width, invalid_value
from penstock.sdk.converters import Converter, Decoded, side
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import Schema, SchemaType, from_field, is_schemaless, to_field


def _known_encoding(name: str, value: Any) -> None:
    try:
        codecs.lookup(value)
    except LookupError:
        raise invalid_value(name, value, "Unknown encoding") from None


class StringConverter(Converter):
    """Text as it is; numbers and booleans as their text. Reads anything as text."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.storage.StringConverter"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "converter.encoding",
            default="UTF-8",
            validator=_known_encoding,
            importance=Importance.HIGH,
            doc="The name of the character set to use for encoding strings as byte arrays.",
            width=Width.MEDIUM,
            display_name="Encoding",
        )
    )

    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        encoding = self.config_def.parse(config)["converter.encoding"]
        self._side = side(is_key)
        self._encoding = codecs.lookup(encoding).name
        self._field = to_field(Schema.string(optional=True), self._side)

    def encode(self, array: pa.Array, field: pa.Field) -> pa.Array:
        if pa.types.is_null(array.type):
            return pa.nulls(len(array), pa.binary())
        texts = self._texts(array, field)
        if self._encoding == "utf-8":
            return texts.view(pa.binary())  # the same bytes; a cast takes as long as a small batch
        return pa.array([_encoded(t, self._encoding) for t in texts.to_pylist()], pa.binary())

    def decode(self, data: pa.Array) -> list[Decoded]:
        return [Decoded(0, self._decoded(data), self._field)] if len(data) else []

    def _decoded(self, data: pa.Array) -> pa.Array:
        data = data.cast(pa.binary())
        if self._encoding == "utf-8":
            try:
                return data.cast(pa.string())
            except pa.ArrowInvalid:
                pass  # row by row, below: as in Java, what is not text becomes U+FFFD
        return pa.array([_decoded(b, self._encoding) for b in data.to_pylist()], pa.string())

    def _texts(self, array: pa.Array, field: pa.Field) -> pa.Array:
        if not field.metadata and array.type == pa.string():
            return array  # at once: finding out its schema takes longer than a small batch
        if is_schemaless(field):
            return _unquoted(array)
        schema = from_field(field)
        kind = schema.type if schema else SchemaType.STRING
        if kind in _FLOATS:
            return float_texts(array)
        if kind in _NOT_TEXT and not (schema and schema.logical):
            refuse(array, f"StringConverter cannot write {kind}", f"{self._side}.converter")
            return pa.nulls(len(array), pa.string())
        return array if array.type == pa.string() else array.cast(pa.string())


_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)
_NOT_TEXT = (SchemaType.BYTES, SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)


class ByteArrayConverter(Converter):
    """Bytes as they are, both ways."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.converters.ByteArrayConverter"
    config_def: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        self.config_def.parse(config)
        self._side = side(is_key)
        self._field = to_field(Schema.bytes(optional=True), self._side)

    def encode(self, array: pa.Array, field: pa.Field) -> pa.Array:
        schema = from_field(field)
        if schema is None or schema.type is not SchemaType.BYTES or schema.logical:
            found = schema.logical or schema.type if schema else "schemaless values"
            why = f"Invalid schema type for ByteArrayConverter: {found}"
            refuse(array, why, f"{self._side}.converter")
            return pa.nulls(len(array), pa.binary())
        return array.cast(pa.binary())

    def decode(self, data: pa.Array) -> list[Decoded]:
        return [Decoded(0, data.cast(pa.binary()), self._field)] if len(data) else []


def refuse(array: pa.Array, why: str, setting: str) -> None:
    """An error for the first row that holds anything; rows without a value have no type at all."""
    row = next((i for i, valid in enumerate(array.is_valid().to_pylist()) if valid), None)
    if row is not None:
        fitting = "org.apache.kafka.connect.json.JsonConverter"
        raise RecordError(f"{why}. It fits {setting}={fitting}", row=row)


def _unquoted(array: pa.Array) -> pa.Array:
    """JSON texts, but a JSON string as what it says."""
    texts = array.cast(pa.string())
    if not any(t is not None and t.startswith('"') for t in texts.to_pylist()):
        return texts
    unquoted = [orjson.loads(t) if t and t.startswith('"') else t for t in texts.to_pylist()]
    return pa.array(unquoted, pa.string())


def _encoded(text: str | None, encoding: str) -> bytes | None:
    return None if text is None else text.encode(encoding, "replace")


def _decoded(data: bytes | None, encoding: str) -> str | None:
    return None if data is None else data.decode(encoding, "replace")
