"""Columns of one type as columns of another, with Java's rules for every value."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import compute

from penstock.columnar.json_text import Misfit, float_texts
from penstock.columnar.transforms.java_numbers import (
    narrowed,
    parsed_float,
    parsed_integer,
)
from penstock.columnar.transforms.time_texts import iso_texts
from penstock.sdk.java_text import float_text
from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType, to_type

BITS: Final = {
    SchemaType.INT8: 8,
    SchemaType.INT16: 16,
    SchemaType.INT32: 32,
    SchemaType.INT64: 64,
}
FLOATS: Final = (SchemaType.FLOAT32, SchemaType.FLOAT64)
_INPUTS: Final = (*BITS, *FLOATS, SchemaType.BOOLEAN, SchemaType.STRING, SchemaType.BYTES)
_TEMPORAL: Final = (DATE, TIME, TIMESTAMP)


def cast_column(array: pa.Array, schema: Schema, target: SchemaType) -> pa.Array:
    """``array``, of ``schema``, as ``target``; ``Misfit`` if some value cannot be."""
    if schema.type not in _INPUTS:
        raise Misfit(
            f"Cast transformation does not support casting from {schema.type}; supported types "
            f"are [{', '.join(_INPUTS)}]"
        )
    if target is SchemaType.STRING:
        return _texts(array, schema)
    if schema.logical == DECIMAL:
        return _decimals(array.cast(to_type(schema)), target)
    if schema.logical in _TEMPORAL:
        array = _ticks(array, schema)
    if pa.types.is_floating(array.type):
        return _from_floats(array, target)
    if schema.type is SchemaType.STRING:
        return _from_texts(array.cast(pa.string()), target)
    if schema.type is SchemaType.BYTES:
        raise Misfit("Unexpected type in Cast transformation: class [B")
    return _from_integers(array, target)


def _ticks(array: pa.Array, schema: Schema) -> pa.Array:
    """Dates, times and timestamps as the numbers they are stored as."""
    number = pa.int64() if schema.logical == TIMESTAMP else pa.int32()
    return array.cast(to_type(schema), safe=False).cast(number)


def _plain(target: SchemaType) -> pa.DataType:
    return to_type(Schema(target))


def _from_integers(array: pa.Array, target: SchemaType) -> pa.Array:
    if target is SchemaType.BOOLEAN:
        return array if pa.types.is_boolean(array.type) else compute.not_equal(array, 0)
    if target is SchemaType.FLOAT32 and pa.types.is_int64(array.type):
        numbers = np.asarray(array.fill_null(0)).astype(np.float32)
        return _blanked(pa.array(numbers), array)
    return array.cast(_plain(target), safe=False)


def _from_floats(array: pa.Array, target: SchemaType) -> pa.Array:
    if target in FLOATS:
        return array.cast(_plain(target), safe=False)
    bits = BITS.get(target, 64)
    whole = _saturated(array, pa.int64() if bits == 64 else pa.int32())
    return _from_integers(whole, target)


def _saturated(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cut off at the point; beyond the type's range its last number, and 0 for NaN."""
    numbers = np.nan_to_num(np.asarray(array.cast(pa.float64()).fill_null(0.0)), posinf=np.inf)
    dtype = kind.to_pandas_dtype()
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    beyond = numbers >= float(high)
    whole = np.where(beyond, 0.0, np.maximum(numbers, float(low))).astype(dtype)
    whole[beyond] = high
    return _blanked(pa.array(whole), array)


def _from_texts(array: pa.Array, target: SchemaType) -> pa.Array:
    if target is SchemaType.BOOLEAN:
        return compute.equal(compute.utf8_lower(array), "true")
    plain = _INTEGERS if target in BITS else _NUMBERS
    if _all(compute.match_substring_regex(array, plain)):
        try:
            return compute.replace_substring_regex(array, r"^\+", "").cast(_plain(target))
        except pa.ArrowInvalid:
            pass  # out of range, or in a form that only Java reads: one by one
    return _one_by_one(array, target)


_INTEGERS: Final = r"^[+-]?[0-9]+$"
_NUMBERS: Final = r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


def _one_by_one(array: pa.Array, target: SchemaType) -> pa.Array:
    if target in BITS:
        return _each(array, lambda text: parsed_integer(text, BITS[target]), target)
    return _each(array, parsed_float, target)


def _decimals(array: pa.Array, target: SchemaType) -> pa.Array:
    if target in BITS:
        return _each(array, lambda number: narrowed(int(number), BITS[target]), target)
    if target is SchemaType.BOOLEAN:
        return _each(array, lambda number: narrowed(int(number), 64) != 0, target)
    return _each(array, float, target)


def _each(array: pa.Array, change: Callable[[Any], Any], target: SchemaType) -> pa.Array:
    made = [None if value is None else change(value) for value in array.to_pylist()]
    return pa.array(made, _plain(target))


def _texts(array: pa.Array, schema: Schema) -> pa.Array:
    if schema.logical == DECIMAL:
        return _each(array.cast(to_type(schema)), _decimal_text, SchemaType.STRING)
    if schema.logical in _TEMPORAL:
        return iso_texts(array.cast(to_type(schema), safe=False))
    if schema.type in FLOATS:
        return java_float_texts(array)
    if schema.type is SchemaType.BYTES:
        return _each(
            array.cast(pa.binary()), lambda b: base64.b64encode(b).decode(), SchemaType.STRING
        )
    return array.cast(pa.string())


def _decimal_text(number: Decimal) -> str:
    return str(number)


def java_float_texts(array: pa.Array) -> pa.Array:
    """Java's ``toString``: Arrow's text is the same, but for very large and very small numbers."""
    numbers = np.abs(np.asarray(array.fill_null(1.0)))
    odd = np.flatnonzero(~((numbers == 0) | ((numbers >= 1e-3) & (numbers < 1e7))))
    texts = float_texts(array)
    if not len(odd):
        return texts
    values = np.asarray(array.fill_null(1.0))[odd]
    mask = np.zeros(len(array), bool)
    mask[odd] = True
    own = pa.array([float_text(value) for value in values], pa.string())
    return compute.replace_with_mask(texts, pa.array(mask), own)


def _blanked(made: pa.Array, like: pa.Array) -> pa.Array:
    return compute.if_else(like.is_valid(), made, None) if like.null_count else made


def _all(mask: pa.Array) -> bool:
    return compute.all(mask).as_py() is not False
