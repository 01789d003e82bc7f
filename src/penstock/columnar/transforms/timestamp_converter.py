"""Kafka Connect's TimestampConverter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.json_rows import (
    JAVA_NAMES,
    dumped_rows,
    parsed_rows,
    required_map,
)
from penstock.columnar.transforms.moments import TARGETS, Moments
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform
from penstock.columnar.transforms.structs import Part, basics, part, parts, rebuilt
from penstock.sdk.config import ConfigDef, ConfigKey, Importance
from penstock.sdk.config_validators import one_of
from penstock.sdk.errors import ConfigError
from penstock.sdk.schema import Schema

_PURPOSE = "converting timestamp formats"
_KINDS = {int: Schema.int64(), str: Schema.string()}


class TimestampConverter(SidedTransform):
    """A field, or the whole key or value, from one form of a moment to another."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "field",
            default="",
            importance=Importance.HIGH,
            doc="The field containing the timestamp, or empty if the entire value is a timestamp.",
        ),
        ConfigKey(
            "target.type",
            validator=one_of(*TARGETS),
            importance=Importance.HIGH,
            doc="The desired timestamp representation: string, unix, Date, Time, or Timestamp.",
        ),
        ConfigKey(
            "format",
            default="",
            importance=Importance.MEDIUM,
            doc="A SimpleDateFormat-compatible format for the timestamp. Used to generate the "
            "output when type=string or used to parse the input if the input is a string.",
        ),
        ConfigKey(
            "unix.precision",
            default="milliseconds",
            validator=one_of("nanoseconds", "microseconds", "milliseconds", "seconds"),
            importance=Importance.LOW,
            doc="The desired Unix precision for the timestamp: seconds, milliseconds, "
            "microseconds, or nanoseconds. Used to generate the output when type=unix or used to "
            "parse the input if the input is a Long. Note: This SMT will cause precision loss "
            "during conversions from, and to, values with sub-millisecond components.",
        ),
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._field: str = parsed["field"]
        self._replace_null: bool = parsed["replace.null.with.default"]
        target, pattern = parsed["target.type"], parsed["format"]
        if target == "string" and not pattern.strip():
            raise ConfigError(
                "TimestampConverter requires format option to be specified when using string "
                "timestamps",
                key="format",
            )
        self._moments = Moments(target, pattern, parsed["unix.precision"])

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        if not self._field:
            return self._moments.converted(array, schema), self._described(schema)
        found = parts(array, _PURPOSE, replace_null=self._replace_null)
        made = [self._part(p) if p.name == self._field else p for p in found]
        described = replace(
            basics(schema),
            optional=schema.optional,
            default=self._default(schema),
            fields={p.name: p.schema for p in made},
        )
        return rebuilt(made, array), described

    def _part(self, found: Part) -> Part:
        schema = found.schema
        made = self._moments.converted(found.array, schema)
        return part(found.name, self._described(schema), made)

    def _described(self, schema: Schema) -> Schema:
        return replace(TARGETS[self._moments.target], optional=schema.optional)

    def _default(self, schema: Schema) -> Any:
        """A struct's default with the same field converted."""
        if not schema.default or self._field not in schema.fields:
            return schema.default
        inner = schema.fields[self._field]
        value = self._moments.converted_value(schema.default.get(self._field), inner)
        return {**schema.default, self._field: value}

    def schemaless_column(self, array: pa.Array, batch: pa.RecordBatch) -> pa.Array:
        """All timestamps at once if they are of one type; otherwise, and after an error, singly."""
        values = parsed_rows(array)
        try:
            found = self._converted([self._timestamp(value) for value in values])
        except Misfit:
            found = None
        if found is None:
            return super().schemaless_column(array, batch)
        return dumped_rows(map(self._with, values, found))

    def _timestamp(self, value: Any) -> Any:
        if value is None or not self._field:
            return value
        return required_map(value, _PURPOSE).get(self._field)

    def _with(self, value: Any, timestamp: Any) -> Any:
        return {**value, self._field: timestamp} if self._field and value is not None else timestamp

    def _converted(self, timestamps: list[Any]) -> list[Any] | None:
        """None if they are of more than one type, or of one that holds no timestamps."""
        [kind, *others] = {type(each) for each in timestamps if each is not None} or {int}
        if others or kind not in _KINDS:
            return None
        return self._moments.converted_json(timestamps, _KINDS[kind])

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        if value is None or not self._field:
            return self._json(value)
        there = required_map(value, _PURPOSE)
        return {**there, self._field: self._json(there.get(self._field))}

    def _json(self, value: Any) -> Any:
        if value is None:
            return None
        if type(value) in _KINDS:
            return self._moments.converted_json([value], _KINDS[type(value)])[0]
        name = JAVA_NAMES[type(value)]
        raise Misfit(f"TimestampConverter does not support class {name} objects as timestamps")


class TimestampConverterKey(TimestampConverter):
    """In the key."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.TimestampConverter$Key"


class TimestampConverterValue(TimestampConverter):
    """In the value."""

    connect_class: ClassVar[str] = f"{PACKAGE}.TimestampConverter$Value"
