"""PostgreSQL's types as Connect's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from penstock.plugins.databases.conversions import cast, days, timestamps, truncate
from penstock.sdk.databases import Column, Conversion, TypeOptions, as_is, quote
from penstock.sdk.schema import Schema

_PLAIN: Final[dict[str, Callable[[], Schema]]] = {
    "bool": Schema.boolean,
    "int2": Schema.int16,
    "int4": Schema.int32,
    "int8": Schema.int64,
    "float4": Schema.float32,
    "float8": Schema.float64,
    "text": Schema.string,
    "varchar": Schema.string,
    "bpchar": Schema.string,
    "bytea": Schema.bytes,
}
"""Types that the driver returns as Connect has them."""
_TEMPORAL: Final = ("timestamp", "timestamptz", "date", "time")
_WIDEST_DECIMAL: Final = 38


@dataclass(frozen=True)
class PostgresType:
    """A type as the catalog has it: ``name`` is the internal one, "int4", or "_int4" for arrays."""

    name: str
    modifier: int = -1

    @property
    def precision(self) -> int | None:
        """Of numeric: how many digits in all; None if that is not limited."""
        return None if self.modifier < 4 else ((self.modifier - 4) >> 16) & 0xFFFF

    @property
    def scale(self) -> int:
        """Of numeric: how many of them are behind the point; may be below 0."""
        bits = (self.modifier - 4) & 0x7FF
        return bits - 0x800 if bits & 0x400 else bits


def postgres_column(
    name: str, kind: PostgresType, options: TypeOptions, *, nullable: bool, incrementing: bool
) -> Column:
    """How to read a column of this type."""
    quoted = quote(name)
    schema, expression, conversion = _reading(quoted, name, kind, options)
    return Column(
        name,
        kind.name,
        replace(schema, optional=nullable),
        expression if expression == quoted else f"{expression} AS {quoted}",
        conversion,
        incrementing,
    )


def _reading(
    quoted: str, name: str, kind: PostgresType, options: TypeOptions
) -> tuple[Schema, str, Conversion]:
    if kind.name in _PLAIN:
        return _PLAIN[kind.name](), quoted, as_is
    if kind.name == "numeric":
        return _numeric(quoted, kind, options.numeric_mapping)
    if kind.name in _TEMPORAL:
        schema, conversion = _temporal(kind.name, options)
        return schema, quoted, conversion
    if kind.name.startswith("_"):
        return _array(quoted, name, kind.name.removeprefix("_"))
    return Schema.string(), f"{quoted}::text", as_is


def _temporal(name: str, options: TypeOptions) -> tuple[Schema, Conversion]:
    if name == "date":
        return Schema.date(), days
    if name == "time":
        return Schema.time(), truncate(pa.time32("ms"))
    return timestamps(options.granularity, options.zone if name == "timestamp" else None)


def _numeric(quoted: str, kind: PostgresType, mapping: str) -> tuple[Schema, str, Conversion]:
    precision, scale = kind.precision, kind.scale
    if precision is None or precision > _WIDEST_DECIMAL or not 0 <= scale <= _WIDEST_DECIMAL:
        if mapping == "best_fit_eager_double":
            return Schema.float64(), f"{quoted}::float8", as_is
        return Schema.string(), f"{quoted}::text", as_is
    if mapping != "none" and scale == 0 and precision < 19:
        return _integer(quoted, precision)
    if (mapping == "best_fit" and precision < 19) or mapping == "best_fit_eager_double":
        return Schema.float64(), f"{quoted}::float8", as_is
    return Schema.decimal(scale), f"{quoted}::text", cast(pa.decimal128(_WIDEST_DECIMAL, scale))


def _integer(quoted: str, precision: int) -> tuple[Schema, str, Conversion]:
    if precision < 5:
        return Schema.int16(), f"{quoted}::int2", as_is
    if precision < 10:
        return Schema.int32(), f"{quoted}::int4", as_is
    return Schema.int64(), f"{quoted}::int8", as_is


def _array(quoted: str, name: str, element: str) -> tuple[Schema, str, Conversion]:
    """Arrays of one dimension; the driver would make one of several without a word."""
    read_as = element if element in _PLAIN else "text"
    schema = Schema.array(replace(_PLAIN[read_as](), optional=True))
    array = quoted if element == read_as else f"{quoted}::{read_as}[]"
    # It depends on the row, or the planner would raise the error while it prepares the query.
    refusal = f"an array of more than one dimension in column {name}, with dimensions: "
    literal = "'" + refusal.replace("'", "''") + "'"
    refused = f"({literal} || array_ndims({quoted})::text)::{read_as}[]"
    guarded = f"CASE WHEN array_ndims({quoted}) > 1 THEN {refused} ELSE {array} END"
    return schema, guarded, as_is
