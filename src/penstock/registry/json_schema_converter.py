"""Confluent's JsonSchemaConverter over Arrow columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columnar.json_records import payload_column
from penstock.columnar.json_text import JsonOptions, Misfit, texts
from penstock.registry.converter import Reader, RegistryConverter, Writer
from penstock.registry.json_schema_reading import JsonSchemaReader
from penstock.registry.json_schema_writing import json_schema
from penstock.registry.settings import REGISTRY_KEYS
from penstock.registry.wire import HEADER_BYTES
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Width
from penstock.sdk.config_validators import one_of_ignoring_case
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import SCHEMALESS, Schema, to_field

DRAFT: Final = "http://json-schema.org/draft-07/schema#"
"""Apicurio takes a schema without a type at its top for JSON Schema only if this is in it."""


class JsonSchemaConverter(RegistryConverter):
    """JSON, with its JSON Schemas in a Confluent-compatible schema registry."""

    connect_class: ClassVar[str] = "io.confluent.connect.json.JsonSchemaConverter"
    kind: ClassVar[str] = "JSON"
    config_def: ClassVar[ConfigDef] = REGISTRY_KEYS + ConfigDef(
        ConfigKey(
            "decimal.format",
            default="BASE64",
            validator=one_of_ignoring_case("BASE64", "NUMERIC"),
            importance=Importance.LOW,
            doc="How decimals are written, BASE64 or NUMERIC; both are read.",
            group="Serialization",
            width=Width.MEDIUM,
        )
    )

    def _configure(self, parsed: Mapping[str, Any]) -> None:
        numeric = parsed["decimal.format"].upper() == "NUMERIC"
        self._options = JsonOptions(numeric_decimals=numeric, entry_objects=True)

    def _writer(self, schema: Schema | None, text: str | None) -> Writer:
        return _JsonWriter(schema, text, self._options)

    def _reader(self, text: str) -> Reader:
        return _JsonReader(text, self._side, self._options)


class _JsonWriter:
    def __init__(self, schema: Schema | None, text: str | None, options: JsonOptions) -> None:
        made = {} if schema is None else json_schema(schema, options)
        self.text = text if text is not None else json.dumps({"$schema": DRAFT, **made})
        self.name = schema.name if schema else None
        self._schema = schema
        self._options = options

    def write(self, array: pa.Array, head: bytes) -> pa.Array:
        try:
            return self._written(array, head)
        except Misfit:
            raise self._first_misfit(array) from None

    def _written(self, array: pa.Array, head: bytes) -> pa.Array:
        if self._schema is None:
            payload = array.cast(pa.string()).cast(pa.binary())
        else:
            payload = texts(array, self._schema, self._options)
        return pc.binary_join_element_wise(pa.scalar(head, pa.binary()), payload, b"")

    def _first_misfit(self, array: pa.Array) -> RecordError:
        for row in range(len(array)):
            try:
                self._written(array.slice(row, 1), b"")
            except Misfit as misfit:
                return RecordError(str(misfit), row=row)
        raise AssertionError("a column fails only where one of its rows does")


class _JsonReader:
    def __init__(self, text: str, side: str, options: JsonOptions) -> None:
        try:
            root = json.loads(text)
        except ValueError as error:
            raise Misfit(f"the registered schema is not JSON: {error}") from None
        self._schema = JsonSchemaReader(root, options).whole()
        self._options = options
        self.field = to_field(self._schema, side) if self._schema else SCHEMALESS.with_name(side)

    def read(self, data: pa.Array) -> pa.Array:
        records = data.to_pylist()
        payloads = [None if each is None else each[HEADER_BYTES:] for each in records]
        try:
            return payload_column(self._schema, payloads, self._options)
        except (Misfit, orjson.JSONDecodeError):
            raise self._first_misfit(payloads) from None

    def _first_misfit(self, payloads: list[bytes | None]) -> RecordError:
        for row, payload in enumerate(payloads):
            try:
                payload_column(self._schema, [payload], self._options)
            except (Misfit, orjson.JSONDecodeError) as error:
                return RecordError(f"The record does not fit its JSON Schema: {error}", row=row)
        raise AssertionError("a column fails only where one of its rows does")
