"""Kafka Connect's Cast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.cast_columns import cast_column
from penstock.columnar.transforms.cast_json import cast_json
from penstock.columnar.transforms.json_rows import required_map
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform
from penstock.columnar.transforms.structs import Part, basics, part, parts, rebuilt
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, invalid_value
from penstock.sdk.errors import ConfigError
from penstock.sdk.schema import Schema, SchemaType, to_type

_PURPOSE = "cast types"
_OUTPUTS = {
    kind.lower(): kind
    for kind in (
        SchemaType.INT8,
        SchemaType.INT16,
        SchemaType.INT32,
        SchemaType.INT64,
        SchemaType.FLOAT32,
        SchemaType.FLOAT64,
        SchemaType.BOOLEAN,
        SchemaType.STRING,
    )
}


def _spec(name: str, value: Any) -> None:
    if not value:
        raise ConfigError("Must specify at least one field to cast.", key=name)
    casts = [_cast(name, value, text) for text in value]
    if len(casts) > 1 and any(field is None for field, _ in casts):
        raise ConfigError(
            "Cast transformations that specify a type to cast the entire value to may only "
            "specify a single cast in their spec",
            key=name,
        )


def _cast(name: str, value: Any, text: str) -> tuple[str | None, SchemaType]:
    """Field, or None for the whole, and type."""
    field, colon, kind = text.partition(":")
    if not colon:
        field, kind = "", text
    target = _OUTPUTS.get(kind.strip().lower())
    if target is None:
        raise invalid_value(name, value, f"Invalid type found in casting spec: {kind.strip()}")
    return (field.strip() if colon else None), target


class Cast(SidedTransform):
    """Fields, or the whole key or value, as another type."""

    passes_nulls: ClassVar[bool] = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "spec",
            Type.LIST,
            validator=_spec,
            importance=Importance.HIGH,
            doc="List of fields and the type to cast them to of the form field1:type,field2:type "
            "to cast fields of Maps or Structs. A single type to cast the entire value. Valid "
            "types are int8, int16, int32, int64, float32, float64, boolean, and string. Note that "
            "binary fields can only be cast to string.",
        ),
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._casts = dict(_cast("spec", parsed["spec"], text) for text in parsed["spec"])
        self._whole = self._casts.get(None)
        self._replace_null: bool = parsed["replace.null.with.default"]

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        if self._whole is not None:
            described = _extras(basics(schema, self._whole), schema, self._whole)
            return cast_column(array, schema, self._whole).cast(to_type(described)), described
        if schema.default is not None and schema.type is SchemaType.STRUCT:
            raise Misfit("Cast transformation does not support casting from STRUCT")
        found = parts(array, _PURPOSE, replace_null=self._replace_null)
        made = [self._cast_part(p) for p in found]
        fields = {p.name: p.schema for p in made}
        return rebuilt(made, array), replace(
            basics(schema), optional=schema.optional, fields=fields
        )

    def _cast_part(self, found: Part) -> Part:
        target = self._casts.get(found.name)
        if target is None:
            return found
        schema = found.schema
        described = _extras(Schema(target), schema, target)
        return part(found.name, described, cast_column(found.array, schema, target))

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        if value is None:
            return None
        if self._whole is not None:
            return cast_json(value, self._whole)
        there = required_map(value, _PURPOSE)
        return {**there, **{name: cast_json(there.get(name), to) for name, to in self._named()}}

    def _named(self) -> list[tuple[str, SchemaType]]:
        return [(name, target) for name, target in self._casts.items() if name is not None]


def _extras(made: Schema, schema: Schema, target: SchemaType) -> Schema:
    """Optional as ``schema`` is, and with its default in the new type."""
    default = schema.default
    if default is not None:
        default = cast_column(pa.array([default], to_type(schema)), schema, target)[0].as_py()
    return replace(made, optional=schema.optional, default=default)


class CastKey(Cast):
    """The key, or its fields."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.Cast$Key"


class CastValue(Cast):
    """The value, or its fields."""

    connect_class: ClassVar[str] = f"{PACKAGE}.Cast$Value"
