"""Defaults of fields, in Avro's JSON and as Python values; those of plain types only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from penstock.columnar.json_text import Misfit
from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_NESTED: Final = (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)


def write_default(schema: Schema) -> Any:
    """The JSON of a schema's default, which is not None."""
    if schema.type in _NESTED:
        raise Misfit(f"a default of type {schema.type} cannot be written to an Avro schema")
    write = _WRITE.get(schema.logical or schema.type)
    return schema.default if write is None else write(schema.default, schema)


def read_default(json: Any, schema: Schema) -> Any:
    """The Python value of a default; None where there is none, or for nested types."""
    if json is None or schema.type in _NESTED:
        return None
    read = _READ.get(schema.logical or schema.type)
    return json if read is None else read(json, schema)


def _milliseconds(value: dt.time) -> int:
    return (dt.datetime.combine(_EPOCH.date(), value, dt.UTC) - _EPOCH) // _MILLISECOND


def _unscaled(value: Decimal, schema: Schema) -> str:
    number = int(value.scaleb(schema.scale))
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(size, "big", signed=True).decode("latin-1")


def _decimal(json: str, schema: Schema) -> Decimal:
    number = int.from_bytes(json.encode("latin-1"), "big", signed=True)
    return Decimal(f"{number}E{-schema.scale}")


_Change = Callable[[Any, Schema], Any]
_WRITE: Final[dict[str, _Change]] = {
    DATE: lambda value, _: (value - _EPOCH.date()).days,
    TIME: lambda value, _: _milliseconds(value),
    TIMESTAMP: lambda value, _: (value - _EPOCH) // _MILLISECOND,
    DECIMAL: _unscaled,
    SchemaType.BYTES: lambda value, _: value.decode("latin-1"),
}
_READ: Final[dict[str, _Change]] = {
    DATE: lambda json, _: _EPOCH.date() + dt.timedelta(days=json),
    TIME: lambda json, _: (_EPOCH + json * _MILLISECOND).time(),
    TIMESTAMP: lambda json, _: _EPOCH + json * _MILLISECOND,
    DECIMAL: _decimal,
    SchemaType.BYTES: lambda json, _: json.encode("latin-1"),
    SchemaType.FLOAT32: lambda json, _: float(json),
    SchemaType.FLOAT64: lambda json, _: float(json),
}
