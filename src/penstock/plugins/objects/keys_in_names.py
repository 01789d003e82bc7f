"""Keys of records as a part of objects' names, for the sink that writes and the source that reads.

Letters, digits and ``-._~@=+,:`` are as they are, other bytes as in URLs: a key is one part of a
path, whatever is in it, and two keys never make the same name.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

import orjson
import pyarrow as pa

from penstock.plugins.objects.sink_json import json_texts

NONE: Final = "null"
"""For records without a key, as Aiven's sinks write it."""
EMPTY: Final = "%"
_SAFE: Final = "@=+,:"
_DOTS: Final = {"": EMPTY, ".": "%2E", "..": "%2E%2E"}


def key_in_name(key: bytes | None) -> str:
    """The part of a name that stands for this key."""
    if key is None:
        return NONE
    text = quote_from_bytes(key, _SAFE)
    return _DOTS.get(text, text)


def key_from_name(text: str) -> bytes:
    """The key of which ``key_in_name`` made this; of a name that it cannot have made, the text."""
    key = b"" if text == EMPTY else unquote_to_bytes(text)
    return key if key_in_name(key) == text else text.encode()


def keys_in_names(column: pa.Array) -> pa.Array:
    """The part of a name for each key: of texts and bytes these, of other keys their JSON."""
    return pa.array([key_in_name(key) for key in _as_bytes(column)], pa.string())


def _as_bytes(column: pa.Array) -> list[bytes | None]:
    if pa.types.is_binary(column.type):
        return list(column.to_pylist())
    if pa.types.is_string(column.type):
        return [None if text is None else text.encode() for text in column.to_pylist()]
    return [_of_json(text) for text in json_texts(column).to_pylist()]


def _of_json(text: str) -> bytes | None:
    value = orjson.loads(text) if text.startswith('"') else text
    return None if text == NONE else str(value).encode()
