"""Kafka Connect's JsonConverter over Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from penstock.columnar.json_envelope import EnvelopeReader
from penstock.columnar.json_records import decode_envelopes, json_column
from penstock.columnar.json_schema import write_schema
from penstock.columnar.json_text import JsonOptions, Misfit, texts
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, Width
from penstock.sdk.config_validators import one_of_ignoring_case
from penstock.sdk.converters import Converter, Decoded, side
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import SCHEMALESS, Schema, from_field


class JsonConverter(Converter):
    """JSON, by default with the schema beside every value.

    A null row stays null whatever its schema; Kafka Connect would write ``"payload":null`` for a
    null that has a schema, but here a null value is a tombstone (see ``penstock.sdk.batches``).
    """

    connect_class: ClassVar[str] = "org.apache.kafka.connect.json.JsonConverter"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "schemas.enable",
            Type.BOOLEAN,
            default=True,
            importance=Importance.HIGH,
            doc="Include schemas within each of the serialized values and keys.",
            group="Schemas",
            order=0,
            width=Width.MEDIUM,
            display_name="Enable Schemas",
        ),
        ConfigKey(
            "schemas.cache.size",
            Type.INT,
            default=1000,
            importance=Importance.HIGH,
            doc="The maximum number of schemas that can be cached in this converter instance.",
            group="Schemas",
            order=1,
            width=Width.MEDIUM,
            display_name="Schema Cache Size",
        ),
        ConfigKey(
            "decimal.format",
            default="BASE64",
            validator=one_of_ignoring_case("BASE64", "NUMERIC"),
            importance=Importance.LOW,
            doc="How decimals are written, BASE64 or NUMERIC; both are read.",
            group="Serialization",
            order=0,
            width=Width.MEDIUM,
            display_name="Decimal Format",
        ),
        ConfigKey(
            "replace.null.with.default",
            Type.BOOLEAN,
            default=True,
            importance=Importance.LOW,
            doc="Whether a field that is null and has a default becomes that default.",
            group="Serialization",
            order=1,
            width=Width.MEDIUM,
            display_name="Replace null with default",
        ),
    )

    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        parsed = self.config_def.parse(config)
        self._side = side(is_key)
        self._with_schemas: bool = parsed["schemas.enable"]
        self._options = JsonOptions(
            numeric_decimals=parsed["decimal.format"].upper() == "NUMERIC",
            replace_null_with_default=parsed["replace.null.with.default"],
        )
        self._envelopes = EnvelopeReader(self._options, parsed["schemas.cache.size"])

    def encode(self, array: pa.Array, field: pa.Field) -> pa.Array:
        schema = from_field(field)
        try:
            return self._encoded(array, schema)
        except Misfit:
            raise self._first_misfit(array, schema) from None

    def decode(self, data: pa.Array) -> list[Decoded]:
        data = data.cast(pa.binary())
        if not len(data):
            return []
        if self._with_schemas:
            return decode_envelopes(data.to_pylist(), self._envelopes, self._side)
        return [Decoded(0, json_column(data), SCHEMALESS.with_name(self._side))]

    def _encoded(self, array: pa.Array, schema: Schema | None) -> pa.Array:
        if array.null_count == len(array) and schema is None:
            payload = pa.nulls(len(array), pa.binary())
        elif schema is None:
            payload = array.cast(pa.string()).cast(pa.binary())
        else:
            payload = texts(array, schema, self._options)
        if not self._with_schemas:
            return payload
        raw = b"null" if schema is None else write_schema(schema, self._options)
        return pc.binary_join_element_wise(b'{"schema":' + raw + b',"payload":', payload, b"}", b"")

    def _first_misfit(self, array: pa.Array, schema: Schema | None) -> RecordError:
        for row in range(len(array)):
            try:
                self._encoded(array.slice(row, 1), schema)
            except Misfit as misfit:
                return RecordError(str(misfit), row=row)
        raise AssertionError("a column fails only where one of its rows does")
