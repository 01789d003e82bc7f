"""Keys, values, timestamps and headers as they are restored from text."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

import orjson
import pyarrow as pa

from penstock.plugins.objects.envelope_config import BYTES, JSON, STRING
from penstock.sdk.batches import HEADERS
from penstock.sdk.schema import SCHEMALESS, Schema, to_field

Column = tuple[pa.Array, pa.Field]
Headers = list[dict[str, Any]] | None

_STRINGS: Final = to_field(Schema.string(optional=True), "value")
_BINARY: Final = to_field(Schema.bytes(optional=True), "value")


def from_json_texts(texts: Sequence[str | None], kind: str) -> Column:
    """What the JSON texts say, None for null; ValueError if one is not of that kind."""
    if kind == JSON:
        storage = pa.array(texts, pa.string())
        return pa.ExtensionArray.from_storage(pa.json_(), storage), SCHEMALESS
    strings = [None if text is None else _string(text) for text in texts]
    if kind == STRING:
        return pa.array(strings, pa.string()), _STRINGS
    return pa.array([decoded(text) for text in strings], pa.binary()), _BINARY


def from_bytes(rows: Sequence[bytes | None], kind: str) -> Column:
    """What was written as text or bytes; ValueError if one is not of that kind."""
    binary = pa.array(rows, pa.binary())
    if kind == BYTES:
        return binary, _BINARY
    strings = binary.cast(pa.string())
    if kind == STRING:
        return strings, _STRINGS
    deque((orjson.loads(row) for row in rows if row is not None), maxlen=0)
    return pa.ExtensionArray.from_storage(pa.json_(), strings), SCHEMALESS


def milliseconds(instants: Sequence[str | None]) -> pa.Array:
    """ISO-8601 texts as timestamps of records; ValueError if one is none."""
    exact = pa.array(instants, pa.string()).cast(pa.timestamp("us", "UTC"))
    return exact.cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())


def header_column(rows: Sequence[Headers]) -> pa.Array:
    """Those of each record, with values as bytes."""
    return pa.array(rows, HEADERS)


def decoded(text: str | None) -> bytes | None:
    """What is in base64."""
    return None if text is None else base64.b64decode(text, validate=True)


def _string(text: str) -> str:
    value = orjson.loads(text)
    if isinstance(value, str):
        return value
    raise ValueError("it is not text in JSON")
