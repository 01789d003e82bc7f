"""Moments in any of the forms that TimestampConverter knows, to one of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import compute

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.date_parsing import parsed
from penstock.columnar.transforms.date_patterns import formatted, tokens
from penstock.columnar.transforms.time_texts import milliseconds
from penstock.sdk.errors import ConfigError
from penstock.sdk.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType, to_type

TARGETS: Final = {
    "string": Schema.string(),
    "unix": Schema.int64(),
    "Date": Schema.date(),
    "Time": Schema.time(),
    "Timestamp": Schema.timestamp(),
}
_DAY: Final = 86_400_000
_PER_MILLISECOND: Final = {"microseconds": 1000, "nanoseconds": 1_000_000}


class Moments:
    """Reads columns of moments by their schema, and writes them as ``target``."""

    def __init__(self, target: str, pattern: str, precision: str) -> None:
        self.target = target
        self._shown = pattern
        self._precision = precision
        try:
            self._pattern = tokens(pattern) if pattern.strip() else None
        except ValueError as error:
            raise ConfigError(
                "TimestampConverter requires a SimpleDateFormat-compatible pattern for string "
                f"timestamps: {pattern}: {error}",
                key="format",
            ) from None

    def converted(self, array: pa.Array, schema: Schema) -> pa.Array:
        """The same moments in the target's form; ``Misfit`` if some value is none."""
        return self._written(self._read(array, schema))

    def converted_value(self, value: Any, schema: Schema) -> Any:
        """One value, as Python has it."""
        return self.converted(pa.array([value], to_type(schema)), schema)[0].as_py()

    def converted_json(self, values: list[Any], schema: Schema) -> list[Any]:
        """Values without a schema: dates and times are milliseconds, JSON having neither."""
        made = self.converted(pa.array(values, to_type(schema)), schema)
        shown: list[Any] = (milliseconds(made) if self.target in _TYPED else made).to_pylist()
        return shown

    def _read(self, array: pa.Array, schema: Schema) -> pa.Array:
        if schema.logical in (DATE, TIME, TIMESTAMP):
            return milliseconds(array)
        if schema.type is SchemaType.STRING:
            if self._pattern is None:
                raise Misfit("the key format is needed to read timestamps that are text")
            return parsed(array.cast(pa.string()), self._pattern, self._shown)
        if schema.type is SchemaType.INT64:
            return self._from_unix(array.cast(pa.int64()))
        raise Misfit(f"Schema {schema.type} does not correspond to a known timestamp type format")

    def _from_unix(self, array: pa.Array) -> pa.Array:
        if self._precision == "seconds":
            limit = np.iinfo(np.int64).max // 1000
            kept = compute.min_element_wise(compute.max_element_wise(array, -limit), limit)
            return compute.if_else(array.is_valid(), compute.multiply(kept, 1000), None)
        return compute.divide(array, _PER_MILLISECOND.get(self._precision, 1))

    def _written(self, moments: pa.Array) -> pa.Array:
        match self.target:
            case "string":
                return formatted(moments, self._pattern or [])
            case "unix":
                return self._to_unix(moments)
            case "Date":
                return _days(moments).cast(pa.int32()).cast(pa.date32())
            case "Time":
                whole = compute.multiply(_days(moments), _DAY)
                return compute.subtract(moments, whole).cast(pa.int32()).cast(pa.time32("ms"))
            case _:
                return moments.cast(pa.timestamp("ms", tz="UTC"))

    def _to_unix(self, moments: pa.Array) -> pa.Array:
        if self._precision == "seconds":
            return compute.divide(moments, 1000)
        return compute.multiply(moments, _PER_MILLISECOND.get(self._precision, 1))


_TYPED: Final = ("Date", "Time", "Timestamp")


def _days(moments: pa.Array) -> pa.Array:
    """Whole days since the epoch, rounded down."""
    days = np.asarray(moments.fill_null(0)) // _DAY
    made = pa.array(days, pa.int64())
    return compute.if_else(moments.is_valid(), made, None) if moments.null_count else made
