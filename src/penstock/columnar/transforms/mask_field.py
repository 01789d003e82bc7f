"""Kafka Connect's MaskField."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar, Final

import pyarrow as pa
from pyarrow import compute

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.java_numbers import (
    decimal_of,
    double_of,
    long_of,
    narrowed,
    single,
)
from penstock.columnar.transforms.json_rows import JAVA_NAMES, required_map
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform, refuse_nulls
from penstock.columnar.transforms.structs import Part, constant, parts, rebuilt
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import non_empty
from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType

_PURPOSE = "mask fields"


class MaskField(SidedTransform):
    """Fields as the empty value of their type, or as a replacement; null stays null."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "fields",
            Type.LIST,
            validator=non_empty,
            importance=Importance.HIGH,
            doc="Names of fields to mask.",
        ),
        ConfigKey(
            "replacement",
            default=None,
            validator=non_empty,
            importance=Importance.LOW,
            doc="Custom value replacement, that will be applied to all fields values (numeric or "
            "non-empty string values only).",
        ),
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._fields = frozenset(parsed["fields"])
        self._replacement: str | None = parsed["replacement"]
        self._replace_null: bool = parsed["replace.null.with.default"]

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        refuse_nulls(array, f"Only Struct objects supported for [{_PURPOSE}], found: null")
        found = parts(array, _PURPOSE, replace_null=self._replace_null)
        made = [self._masked(p) if p.name in self._fields else p for p in found]
        return rebuilt(made, array), schema

    def _masked(self, part: Part) -> Part:
        array, schema = part.array, part.schema
        if array.null_count == len(array):
            return part
        mask = _constant(self._mask(schema), schema, len(array)).cast(array.type)
        return Part(part.field, _where(array.is_valid(), mask) if array.null_count else mask)

    def _mask(self, schema: Schema) -> Any:
        kind = schema.logical or schema.type
        if self._replacement is not None:
            if kind not in _REPLACEMENTS:
                raise Misfit(f"Cannot mask value of type {kind} with custom replacement.")
            return _REPLACEMENTS[kind](self._replacement)
        if kind not in _EMPTY:
            raise Misfit(f"Cannot mask value of type: {kind}")
        return _EMPTY[kind]

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        there = required_map(value, _PURPOSE)
        return {**there, **{name: self._masked_json(there.get(name)) for name in self._fields}}

    def _masked_json(self, value: Any) -> Any:
        if value is None:
            return None
        if self._replacement is None:
            return type(value)()
        if type(value) not in _JSON_REPLACEMENTS:
            name = JAVA_NAMES[type(value)]
            raise Misfit(f"Cannot mask value of type class {name} with custom replacement.")
        return _JSON_REPLACEMENTS[type(value)](self._replacement)


def _constant(value: Any, schema: Schema, rows: int) -> pa.Array:
    try:
        return constant(value, schema, rows)
    except pa.ArrowInvalid as error:
        raise Misfit(
            f"the replacement does not fit {schema.logical or schema.type}: {error}"
        ) from None


def _where(valid: pa.Array, mask: pa.Array) -> pa.Array:
    """``mask`` where ``valid``, otherwise null; for any type."""
    rows = pa.array(range(len(mask)), pa.int64())
    return mask.take(compute.if_else(valid, rows, None))


_EPOCH: Final = dt.datetime.fromtimestamp(0, dt.UTC)
_EMPTY: Final[dict[str, Any]] = {
    **dict.fromkeys((SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64), 0),
    SchemaType.FLOAT32: 0.0,
    SchemaType.FLOAT64: 0.0,
    SchemaType.BOOLEAN: False,
    SchemaType.STRING: "",
    SchemaType.ARRAY: [],
    SchemaType.MAP: [],
    DECIMAL: Decimal(0),
    DATE: _EPOCH.date(),
    TIME: _EPOCH.time(),
    TIMESTAMP: _EPOCH,
}
_REPLACEMENTS: Final[dict[str, Callable[[str], Any]]] = {
    SchemaType.INT8: lambda text: narrowed(long_of(text), 8),
    SchemaType.INT16: lambda text: narrowed(long_of(text), 16),
    SchemaType.INT32: lambda text: narrowed(long_of(text), 32),
    SchemaType.INT64: long_of,
    SchemaType.FLOAT32: lambda text: single(double_of(text)),
    SchemaType.FLOAT64: double_of,
    SchemaType.STRING: str,
    DECIMAL: partial(decimal_of, wanted="number"),
}
_JSON_REPLACEMENTS: Final[dict[type, Callable[[str], Any]]] = {
    int: long_of,
    float: double_of,
    str: str,
}


class MaskFieldKey(MaskField):
    """Fields of the key."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.MaskField$Key"


class MaskFieldValue(MaskField):
    """Fields of the value."""

    connect_class: ClassVar[str] = f"{PACKAGE}.MaskField$Value"
