"""Records as JSON, one object per line."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from penstock.consumers.reading.record import Record

_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")


def print_as_json(records: Sequence[Record]) -> bytes:
    """Values that are JSON as such, others as text, or in base64 (then ``encoding`` says so)."""
    return b"".join(
        orjson.dumps(_object(record), option=orjson.OPT_APPEND_NEWLINE) for record in records
    )


def _object(record: Record) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        **_field("key", record.key, "key_encoding"),
        **_value(record.value),
        "headers": [{"name": name, **_field("value", value)} for name, value in record.headers],
    }


def _value(value: bytes | None) -> dict[str, Any]:
    if value is None:
        return {"value": None}
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return _field("value", value)
    # As it was written, so that no number changes; a line end in JSON is never part of a text.
    return {"value": orjson.Fragment(value.translate(_LINE_ENDS))}


def _field(name: str, value: bytes | None, encoding: str = "encoding") -> dict[str, Any]:
    try:
        return {name: None if value is None else value.decode()}
    except UnicodeDecodeError:
        return {name: b64encode(value or b"").decode(), encoding: "base64"}
