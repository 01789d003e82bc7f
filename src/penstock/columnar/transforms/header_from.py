"""Kafka Connect's HeaderFrom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import orjson
import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.cast_columns import cast_column
from penstock.columnar.transforms.header_columns import with_headers
from penstock.columnar.transforms.json_rows import json_texts, required_map
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform, refuse_nulls
from penstock.columnar.transforms.structs import Part, basics, parts, rebuilt
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import non_empty, one_of
from penstock.sdk.errors import ConfigError
from penstock.sdk.header_values import header_text
from penstock.sdk.schema import Schema, SchemaType, is_schemaless


class HeaderFrom(SidedTransform):
    """Fields as headers, moved or copied, in the text of SimpleHeaderConverter."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "fields",
            Type.LIST,
            validator=non_empty,
            importance=Importance.HIGH,
            doc="Field names in the record whose values are to be copied or moved to headers.",
        ),
        ConfigKey(
            "headers",
            Type.LIST,
            validator=non_empty,
            importance=Importance.HIGH,
            doc="Header names, in the same order as the field names listed in the fields "
            "configuration property.",
        ),
        ConfigKey(
            "operation",
            validator=one_of("move", "copy"),
            importance=Importance.HIGH,
            doc="Either move if the fields are to be moved to the headers (removed from the "
            "key/value), or copy if the fields are to be copied to the headers (retained in the "
            "key/value).",
        ),
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._fields: list[str] = parsed["fields"]
        self._headers: list[str] = parsed["headers"]
        self._moves = parsed["operation"] == "move"
        self._purpose = f"header {parsed['operation']}"
        self._replace_null: bool = parsed["replace.null.with.default"]
        if len(self._fields) != len(self._headers):
            raise ConfigError(
                "'fields' config must have the same number of elements as 'headers' config."
            )

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The fields first, while they are there, and then what is left of the key or value."""
        if not batch.num_rows:
            return batch
        made = super().apply(batch)
        at = batch.schema.get_field_index("headers")
        values = self._values(batch.column(self.side), batch.schema.field(self.side))
        headers = with_headers(batch.column(at), self._headers, values)
        return made.set_column(at, batch.schema.field(at), headers)

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        refuse_nulls(array, f"Only Struct objects supported for [{self._purpose}], found: null")
        found = parts(array, self._purpose, replace_null=self._replace_null)
        missing = next((name for name in self._fields if name not in schema.fields), None)
        if missing is not None:
            raise Misfit(f"Unknown field: {missing}")
        if not self._moves:
            return array, schema
        left = [p for p in found if p.name not in self._fields]
        return rebuilt(left, array), replace(
            basics(schema), fields={p.name: p.schema for p in left}
        )

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        there = required_map(value, self._purpose)
        return {k: v for k, v in there.items() if not self._moves or k not in self._fields}

    def _values(self, array: pa.Array, field: pa.Field) -> list[pa.Array]:
        if is_schemaless(field):
            maps = [orjson.loads(text) for text in json_texts(array).to_pylist()]
            return [_texts(None, [each.get(name) for each in maps]) for name in self._fields]
        found = {p.name: p for p in parts(array, "", replace_null=self._replace_null)}
        return [_column_texts(found[name]) for name in self._fields]


def _column_texts(part: Part) -> pa.Array:
    schema = part.schema
    if schema.type in (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT):
        return _texts(schema, part.array.to_pylist(maps_as_pydicts="lossy"))
    return cast_column(part.array, schema, SchemaType.STRING)


def _texts(schema: Schema | None, values: list[Any]) -> pa.Array:
    return pa.array([header_text(schema, value) for value in values], pa.string())


class HeaderFromKey(HeaderFrom):
    """Fields of the key."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.HeaderFrom$Key"


class HeaderFromValue(HeaderFrom):
    """Fields of the value."""

    connect_class: ClassVar[str] = f"{PACKAGE}.HeaderFrom$Value"
