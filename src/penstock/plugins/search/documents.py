"""Values as JSON documents.

Fields are made column by column, as far as their types allow it, and other values row by row.
Timestamps become milliseconds and dates ISO texts, which the type ``date`` of a mapping takes;
decimals become numbers, and bytes base64.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

NULL: Final = "null"
_ESCAPED: Final = r'[\x00-\x1f"\\]'

Plain = Callable[[Any], Any]
"""From a value of Arrow to one that ``orjson`` writes."""


def json_texts(column: pa.Array, *, compact_maps: bool = True) -> pa.Array:
    """A line of JSON for each row; ``null`` for null."""
    column = _without_times(column)
    kind = column.type
    if isinstance(kind, pa.JsonType):
        # Line breaks in texts are escaped in JSON, so that these are only between values.
        return pc.fill_null(pc.replace_substring_regex(column.storage, r"[\r\n]+", " "), NULL)
    if pa.types.is_struct(kind):
        return _objects(column, compact_maps)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return pc.fill_null(pc.cast(column, pa.string()), NULL)
    if pa.types.is_string(kind) and not _needs_escapes(column):
        return pc.fill_null(pc.binary_join_element_wise('"', column, '"', ""), NULL)
    return _row_by_row(column, compact_maps)


def _without_times(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("ms", kind.tz), safe=False).cast(pa.int64())
    if pa.types.is_time32(kind):
        return column.cast(pa.time32("ms")).cast(pa.int32())
    return column.cast(pa.string()) if pa.types.is_date32(kind) else column


def _needs_escapes(column: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, _ESCAPED)).as_py())


def _objects(column: pa.Array, compact_maps: bool) -> pa.Array:
    parts: list[Any] = []
    for place, array in enumerate(column.flatten()):
        name = orjson.dumps(column.type.field(place).name).decode()
        parts += [f"{',' if place else '{'}{name}:", json_texts(array, compact_maps=compact_maps)]
    if not parts:
        whole = pa.array(["{}"] * len(column))
    else:
        whole = pc.binary_join_element_wise(*parts, "}", "")
    return pc.if_else(column.is_valid(), whole, NULL)


def _row_by_row(column: pa.Array, compact_maps: bool) -> pa.Array:
    plain = _plain(column.type, compact_maps)
    values = (None if value is None else plain(value) for value in column.to_pylist())
    return pa.array([orjson.dumps(value).decode() for value in values], pa.string())


def _plain(kind: pa.DataType, compact_maps: bool) -> Plain:
    """How values of a type are written."""
    if pa.types.is_map(kind):
        return _of_map(kind, compact_maps)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = _unless_null(_plain(kind.value_type, compact_maps))
        return lambda values: [inner(each) for each in values]
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        inners = {f.name: _unless_null(_plain(f.type, compact_maps)) for f in fields}
        return lambda value: {name: inner(value[name]) for name, inner in inners.items()}
    return _scalar


def _of_map(kind: pa.MapType, compact_maps: bool) -> Plain:
    key = _plain(kind.key_type, compact_maps)
    item = _unless_null(_plain(kind.item_type, compact_maps))
    if compact_maps and pa.types.is_string(kind.key_type):
        return lambda pairs: {name: item(value) for name, value in pairs}
    return lambda pairs: [{"key": key(name), "value": item(value)} for name, value in pairs]


def _unless_null(plain: Plain) -> Plain:
    return lambda value: None if value is None else plain(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # which the server refuses with a reason; null would hide it
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f").encode())
    return _time(value)


def _time(value: Any) -> Any:
    """As ``_without_times`` does it."""
    if isinstance(value, dt.datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, dt.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return seconds * 1000 + value.microsecond // 1000
    return value
