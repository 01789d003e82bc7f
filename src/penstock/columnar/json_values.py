"""Parsed JSON to Arrow columns: the inverse of ``json_text``."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Decimal
from itertools import accumulate
from typing import Any, Final

import pyarrow as pa

from penstock.columnar.json_text import JsonOptions, Misfit
from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType, to_type


class InexactNumber(Exception):  # noqa: N818 (asks for another way of parsing; no failure)
    """A decimal came as a float: parse the text again, with ``Decimal`` for its numbers."""


def column(schema: Schema, values: list[Any], options: JsonOptions) -> pa.Array:
    """Values as an array of the schema's type; None, at this level, is null whatever the schema.

    Raises ``Misfit`` if some value does not fit.
    """
    live = [value for value in values if value is not None]
    _expect(schema, live)
    try:
        array = _READERS[schema.logical or schema.type](schema, live, options)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        raise error if isinstance(error, Misfit) else Misfit(f"{_kind(schema)}: {error}") from None
    return spread(array, values)


def value_of(value: Any, schema: Schema, options: JsonOptions) -> Any:
    """One value as a Python object of the schema's type."""
    return column(schema, [value], options).to_pylist(maps_as_pydicts="strict")[0]


def filled_column(schema: Schema, values: list[Any], options: JsonOptions) -> pa.Array:
    """As ``column``, but a null has to be allowed by the schema, or becomes its default."""
    array = column(schema, values, options)
    if not array.null_count:
        return array
    if schema.default is not None and options.replace_null_with_default:
        return _filled(array, pa.array([schema.default], to_type(schema)))
    if not schema.optional:
        raise Misfit(f"Invalid null value for required {schema.type} field")
    return array


def spread(array: pa.Array, rows: list[Any]) -> pa.Array:
    """An array that was made of those ``rows`` that are not None, with null for the others."""
    if len(array) == len(rows):
        return array
    ends = accumulate(row is not None for row in rows)
    pairs = zip(ends, rows, strict=True)
    return array.take(
        pa.array([None if row is None else end - 1 for end, row in pairs], pa.int64())
    )


def _filled(array: pa.Array, default: pa.Array) -> pa.Array:
    last = len(array)
    rows = [row if valid else last for row, valid in enumerate(array.is_valid().to_pylist())]
    return pa.concat_arrays([array, default]).take(pa.array(rows, pa.int64()))


def _inner(schema: Schema | None, values: list[Any], options: JsonOptions) -> pa.Array:
    assert schema is not None, "read_schema checked it"  # noqa: S101 (for mypy)
    return filled_column(schema, values, options)


def _kind(schema: Schema) -> str:
    return schema.logical or schema.type


def _expect(schema: Schema, live: list[Any]) -> None:
    allowed = _JSON_TYPES[_kind(schema)]
    wrong = set(map(type, live)) - allowed
    if wrong:
        found = min(kind.__name__ for kind in wrong)
        raise Misfit(f"Invalid value for {_kind(schema)} field: found {_JSON_NAMES[found]}")


def _struct(schema: Schema, live: list[Any], options: JsonOptions) -> pa.Array:
    if not schema.fields:
        return pa.array([{}] * len(live), to_type(schema))
    children = []
    for name, inner in schema.fields.items():
        try:
            children.append(_inner(inner, [value.get(name) for value in live], options))
        except Misfit as misfit:
            raise Misfit(f'field "{name}": {misfit}') from None
    return pa.StructArray.from_arrays(children, fields=list(to_type(schema)))


def _array(schema: Schema, live: list[Any], options: JsonOptions) -> pa.Array:
    items = _inner(schema.value_schema, [item for value in live for item in value], options)
    return pa.ListArray.from_arrays(_offsets(live), items, type=to_type(schema))


def _map(schema: Schema, live: list[Any], options: JsonOptions) -> pa.Array:
    pairs = [_pairs(schema, value, options) for value in live]
    keys = _inner(schema.key_schema, [k for value in pairs for k, _ in value], options)
    values = _inner(schema.value_schema, [v for value in pairs for _, v in value], options)
    return pa.MapArray.from_arrays(_offsets(pairs), keys, values, type=to_type(schema))


def _pairs(schema: Schema, value: Any, options: JsonOptions) -> list[tuple[Any, Any]]:
    if schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING:
        if not isinstance(value, dict):
            raise Misfit("Maps with string fields should be encoded as JSON objects")
        return list(value.items())
    if options.entry_objects:
        return _entries(value)
    if not isinstance(value, list) or not all(_is_pair(entry) for entry in value):
        raise Misfit("Maps with non-string fields should be encoded as JSON array of tuples")
    return [(key, item) for key, item in value]


def _entries(value: Any) -> list[tuple[Any, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise Misfit("Maps with non-string fields should be encoded as JSON array of objects")
    return [(entry.get("key"), entry.get("value")) for entry in value]


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, list) and len(entry) == 2


def _offsets(lists: list[Any]) -> pa.Array:
    return pa.array([0, *accumulate(map(len, lists))], pa.int32())


def _plain(schema: Schema, live: list[Any], _options: JsonOptions) -> pa.Array:
    return pa.array(live, to_type(schema))


def _float(schema: Schema, live: list[Any], _options: JsonOptions) -> pa.Array:
    """Jackson writes what JSON has no number for as a string; so does ``json_text``."""
    if not all(value in _NOT_FINITE for value in live if isinstance(value, str)):
        raise Misfit(f"Invalid value for {schema.type} field: found a string")
    return pa.array([float(value) for value in live], to_type(schema))


_NOT_FINITE: Final = ("NaN", "Infinity", "-Infinity")


def _bytes(schema: Schema, live: list[Any], _options: JsonOptions) -> pa.Array:
    return pa.array([base64.b64decode(value, validate=True) for value in live], to_type(schema))


def _decimal(schema: Schema, live: list[Any], _options: JsonOptions) -> pa.Array:
    return pa.array([_exact(value, schema.scale) for value in live], to_type(schema))


def _exact(value: Any, scale: int) -> Decimal:
    if isinstance(value, float):
        raise InexactNumber
    if not isinstance(value, str):
        return Decimal(value)
    unscaled = int.from_bytes(base64.b64decode(value, validate=True), "big", signed=True)
    return Decimal(f"{unscaled}E{-scale}")


_Reader = Callable[[Schema, list[Any], JsonOptions], pa.Array]

_READERS: Final[dict[str, _Reader]] = {
    SchemaType.FLOAT32: _float,
    SchemaType.FLOAT64: _float,
    SchemaType.BYTES: _bytes,
    SchemaType.ARRAY: _array,
    SchemaType.MAP: _map,
    SchemaType.STRUCT: _struct,
    DECIMAL: _decimal,
    **dict.fromkeys(
        (
            SchemaType.INT8,
            SchemaType.INT16,
            SchemaType.INT32,
            SchemaType.INT64,
            SchemaType.BOOLEAN,
            SchemaType.STRING,
            DATE,
            TIME,
            TIMESTAMP,
        ),
        _plain,
    ),
}

_JSON_TYPES: Final[dict[str, set[type]]] = {
    **{kind: {int} for kind in _READERS},
    SchemaType.FLOAT32: {float, int, str, Decimal},
    SchemaType.FLOAT64: {float, int, str, Decimal},
    SchemaType.BOOLEAN: {bool},
    SchemaType.STRING: {str},
    SchemaType.BYTES: {str},
    SchemaType.ARRAY: {list},
    SchemaType.MAP: {dict, list},
    SchemaType.STRUCT: {dict},
    DECIMAL: {str, int, float, Decimal},
}

_JSON_NAMES: Final = {
    "bool": "a boolean",
    "str": "a string",
    "int": "a number",
    "float": "a number with a fraction",
    "Decimal": "a number with a fraction",
    "list": "an array",
    "dict": "an object",
}
