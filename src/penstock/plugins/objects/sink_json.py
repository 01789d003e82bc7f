"""Columns as JSON text, a text for each row.

Values that are JSON already, whole numbers, booleans and plain texts are made column by column;
others row by row. Dates and times become numbers and bytes base64, as in Kafka Connect's JSON;
decimals are numbers.
"""

from __future__ import annotations

import base64
import datetime as dt
from decimal import Decimal
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

NULL: Final = "null"
_ESCAPED: Final = r'[\x00-\x1f"\\]'
_MILLISECONDS: Final = pa.array([f".{number:03}Z" for number in range(1000)])
_EPOCH: Final = dt.date(1970, 1, 1)
_OPTIONS: Final = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS


def json_texts(column: pa.Array) -> pa.Array:
    """JSON on one line for each row; ``null`` for null."""
    kind = column.type
    if isinstance(kind, pa.JsonType):
        one_line = pc.replace_substring_regex(column.storage, r"[\r\n]+", " ")
        return pc.fill_null(one_line, NULL)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return pc.fill_null(pc.cast(column, pa.string()), NULL)
    if pa.types.is_string(kind) and not _needs_escapes(column):
        return pc.fill_null(pc.binary_join_element_wise('"', column, '"', ""), NULL)
    return pa.array([_dumped(value) for value in column.to_pylist()], pa.string())


def _needs_escapes(column: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, _ESCAPED)).as_py())


def _dumped(value: Any) -> str:
    return orjson.dumps(without_pairs(value), default=_other, option=_OPTIONS).decode()


def without_pairs(value: Any) -> Any:
    """The value with maps as such: Arrow has them as lists of pairs."""
    if isinstance(value, dict):
        return {key: without_pairs(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and all(isinstance(each, tuple) for each in value):
        return {str(key): without_pairs(inner) for key, inner in value}
    return [without_pairs(each) for each in value] if isinstance(value, list) else value


def _other(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f").encode())
    if isinstance(value, dt.datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, dt.date):
        return (value - _EPOCH).days
    if isinstance(value, dt.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return seconds * 1000 + value.microsecond // 1000
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def instants(timestamps: pa.Array) -> pa.Array:
    """Milliseconds as ISO-8601 texts with milliseconds, in UTC; null stays null.

    Neighbours share their second, and to write a date is dear: each second is written once.
    """
    moments = pc.cast(timestamps, pa.timestamp("ms"))
    whole = pc.cast(pc.floor_temporal(moments, unit="second"), pa.timestamp("s"))
    seconds = whole.dictionary_encode()
    begins = pc.strftime(seconds.dictionary, "%Y-%m-%dT%H:%M:%S").take(seconds.indices)
    return pc.binary_join_element_wise(begins, _MILLISECONDS.take(pc.millisecond(moments)), "")


def joined(texts: pa.Array) -> pa.Buffer | bytes:
    """All texts, or bytes, one after another."""
    large = pa.large_binary() if pa.types.is_binary(texts.type) else pa.large_string()
    whole = pa.concat_arrays([texts.cast(large)])
    _, offsets, data = whole.buffers()
    if data is None:
        return b""
    ends = memoryview(offsets).cast("q")
    first, last = ends[whole.offset], ends[whole.offset + len(whole)]
    return data.slice(first, last - first)
