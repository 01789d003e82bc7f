"""A column of values as lines of text, without a Python object for each plain one."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt


def as_lines(values: pa.Array) -> memoryview:
    """Every value and a newline after it, in one piece; a null is the word ``null``.

    Texts and bytes stay as they are, numbers are written as in JSON, structures as JSON.
    """
    if not len(values):
        return memoryview(b"")
    lines = pc.binary_join_element_wise(
        _as_binary(values), b"", b"\n", null_handling="replace", null_replacement=b"null"
    )
    bounds = memoryview(lines.buffers()[1]).cast("b").cast("i")
    return memoryview(lines.buffers()[2])[: bounds[len(lines)]]


def _as_binary(values: pa.Array) -> pa.Array:
    if isinstance(values.type, pa.JsonType):
        return _unquoted(values.storage).cast(pa.binary())
    if _is_bytes(values.type):
        return values.cast(pa.binary())
    if pt.is_nested(values.type) or pt.is_floating(values.type):
        return _each(values, _json)
    return _plain(values).cast(pa.binary())


def _is_bytes(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pt.is_binary, pt.is_large_binary, pt.is_fixed_size_binary))


def _plain(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.string())
    except pa.ArrowNotImplementedError:
        return pa.array([None if v is None else str(v) for v in values.to_pylist()], pa.string())


def _unquoted(texts: pa.Array) -> pa.Array:
    """JSON texts, but strings without their quotes: ``"a"`` becomes ``a``."""
    quoted = pc.fill_null(pc.starts_with(texts, '"'), False)
    if not pc.any(quoted).as_py():
        return texts
    plain = _each(texts.filter(quoted), json.loads).cast(texts.type)
    return pc.replace_with_mask(texts, quoted, plain)


def _each(values: pa.Array, text: Callable[[Any], str]) -> pa.Array:
    found = values.to_pylist(maps_as_pydicts="lossy")
    return pa.array([None if v is None else text(v).encode() for v in found], pa.binary())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_json_text)


def _json_text(value: Any) -> str:
    """Values that JSON does not have: bytes as base64, as in Kafka Connect, dates as text."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
