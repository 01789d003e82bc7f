"""The types of header values: what Kafka Connect's SimpleHeaderConverter reads and writes.

A header is bytes, in a batch as in Kafka. ``read_header`` finds the type and value that the text
stands for, and ``header_text`` is the text of a typed value. The text of an ARRAY, MAP or STRUCT
is JSON-like; a STRUCT is read back as a MAP.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import numpy as np

from penstock.sdk.java_text import float_text, moment_text
from penstock.sdk.schema import Schema, SchemaType

TypedValue = tuple[Schema | None, Any]

_BITS: Final = (
    (Schema.int8(), 7),
    (Schema.int16(), 15),
    (Schema.int32(), 31),
    (Schema.int64(), 63),
)
_WIDENING: Final = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)
_TIME: Final = re.compile(r"(\d\d):(\d\d):(\d\d)\.(\d{3})Z")
_STAMP: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_BLANK: Final = re.compile(r"\s*")
_DELIMITER: Final = re.compile(r"[,\[\]{}\":]")
_BARE: Final = re.compile(r"[^\s,\[\]{}\":]+(?::\d\d:\d\d\.\d{3}Z)?")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def read_header(data: bytes | None) -> TypedValue:
    """Schema and value of a header; bytes that are no text are BYTES."""
    if data is None:
        return None, None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return Schema.bytes(), data
    trimmed = text.strip()
    if trimmed[:1] in ("[", "{"):
        try:
            schema, value, _ = _embedded(trimmed, 0)  # as Kafka Connect, whatever may follow
        except _NoLiteral:
            return Schema.string(), text
        return schema, value
    literal = _literal(trimmed) or _number(_DELIMITER.split(trimmed, 1)[0].strip())
    return (Schema.string(), text) if literal is None else literal


def header_text(schema: Schema | None, value: Any) -> str | None:
    """The text of a value; None has none."""
    return None if value is None else "".join(_written(schema, value, embedded=False))


def header_bytes(value: Any) -> bytes | None:
    """What stands in a batch for the value of a header: bytes as they are, others as text."""
    if value is None or isinstance(value, bytes):
        return value
    text = header_text(None, value)
    return None if text is None else text.encode()


class _NoLiteral(ValueError):  # noqa: N818 (never leaves this module)
    """The text is neither an array nor a map: then it is just text."""


def _literal(text: str) -> TypedValue | None:
    """null, true, false, a moment or a number; None if it is none of them."""
    words: dict[str, TypedValue] = {
        "null": (None, None),
        "true": (Schema.boolean(), True),
        "false": (Schema.boolean(), False),
    }
    if text in words:
        return words[text]
    return _moment(text) or _number(text)


def _moment(text: str) -> TypedValue | None:
    try:
        if _DATE.fullmatch(text):
            return Schema.date(), _day(text)
        if match := _TIME.fullmatch(text):
            hour, minute, second, milli = map(int, match.groups())
            return Schema.time(), dt.time(hour, minute, second, milli * 1000)
        if _STAMP.fullmatch(text):
            return Schema.timestamp(), _stamp(text)
    except (ValueError, OverflowError):
        pass  # no such time, or a year that Python does not have
    return None


def _day(text: str) -> dt.date:
    """Java is lenient: the 45th of a 13th month is a day, too."""
    year, month, day = map(int, text.split("-"))
    first = dt.date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    return first + dt.timedelta(days=day - 1)


def _stamp(text: str) -> dt.datetime:
    day, clock = text[:-1].split("T")
    hours, minutes, seconds = clock.split(":")
    since = dt.timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    return dt.datetime.combine(_day(day), dt.time(), dt.UTC) + since


def _number(text: str) -> TypedValue | None:
    if not text or not (text[0].isdigit() or text[0] in "+-"):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or "_" in text:
        return None
    return _integer(number) or _fraction(number)


def _integer(number: Decimal) -> TypedValue | None:
    if number.adjusted() > 18 or number != number.to_integral_value():
        return None
    whole = int(number)
    return next(((s, whole) for s, bits in _BITS if -(1 << bits) <= whole < 1 << bits), None)


def _fraction(number: Decimal) -> TypedValue:
    scale = -int(number.as_tuple().exponent)
    with np.errstate(over="ignore"):
        single = np.float32(float(number))
    if scale and np.isfinite(single):
        return Schema.float32(), float(single)
    if scale and np.isfinite(float(number)):
        return Schema.float64(), float(number)
    return Schema.decimal(scale), number


def _embedded(text: str, at: int) -> tuple[Schema | None, Any, int]:
    """The value that begins here, and where it ends."""
    at = _skipped(text, at)
    if text[at : at + 1] == "[":
        return _array(text, at)
    if text[at : at + 1] == "{":
        return _map(text, at)
    if match := _QUOTED.match(text, at):
        content = re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
        found = _moment(content) or (Schema.string(), content)
        return *found, match.end()
    bare = _BARE.match(text, at)
    found_bare = _literal(bare[0]) if bare else None
    if bare is None or found_bare is None:
        raise _NoLiteral
    return *found_bare, bare.end()


def _array(text: str, at: int) -> tuple[Schema, list[Any], int]:
    common: Schema | None = None
    values: list[Any] = []
    at = _skipped(text, at + 1)
    while text[at : at + 1] != "]":
        schema, value, at = _embedded(text, at)
        common = _common(common, schema)
        values.append(value)
        at = _next(text, at, "]")
    inner = common or Schema.string(optional=True)
    return Schema.array(inner), [_aligned(common, value) for value in values], at + 1


def _map(text: str, at: int) -> tuple[Schema, dict[Any, Any], int]:
    keys: Schema | None = None
    values: Schema | None = None
    entries: dict[Any, Any] = {}
    at = _skipped(text, at + 1)
    while text[at : at + 1] != "}":
        key_schema, key, at = _embedded(text, at)
        at = _skipped(text, at)
        if key is None or isinstance(key, list | dict) or text[at : at + 1] != ":":
            raise _NoLiteral
        value_schema, entries[key], at = _embedded(text, at + 1)
        keys, values = _common(keys, key_schema), _common(values, value_schema)
        at = _next(text, at, "}")
    aligned = {_aligned(keys, k): _aligned(values, v) for k, v in entries.items()}
    optional = Schema.string(optional=True)
    return Schema.map(keys or optional, values or optional), aligned, at + 1


def _next(text: str, at: int, end: str) -> int:
    """Past a comma, or at the end."""
    at = _skipped(text, at)
    if text[at : at + 1] == ",":
        at = _skipped(text, at + 1)
        if text[at : at + 1] in (end, ","):
            raise _NoLiteral
    elif text[at : at + 1] != end:
        raise _NoLiteral
    return at


def _skipped(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _common(before: Schema | None, schema: Schema | None) -> Schema | None:
    """The wider of two numbers' types, one type for equal ones, and none for others."""
    if before is None or schema is None:
        return schema if before is None else before
    if before.type in _WIDENING and schema.type in _WIDENING:
        return max(before, schema, key=lambda each: _WIDENING.index(each.type))
    return before if before.type is schema.type else None


def _aligned(schema: Schema | None, value: Any) -> Any:
    floats = (SchemaType.FLOAT32, SchemaType.FLOAT64)
    return float(value) if schema and schema.type in floats and value is not None else value


def _written(schema: Schema | None, value: Any, *, embedded: bool) -> Iterator[str]:
    if isinstance(value, list | tuple):
        items = schema.value_schema if schema else None
        yield from _enclosed("[", [_written(items, item, embedded=True) for item in value], "]")
    elif isinstance(value, dict):
        yield from _enclosed("{", [_entry(schema, k, v) for k, v in value.items()], "}")
    else:
        text = _scalar(schema, value)
        quoted = embedded and isinstance(value, str | bytes)
        yield f'"{_escaped(text)}"' if quoted else text


def _enclosed(start: str, items: list[Iterator[str]], end: str) -> Iterator[str]:
    yield start
    for number, item in enumerate(items):
        yield "," if number else ""
        yield from item
    yield end


def _entry(schema: Schema | None, key: Any, value: Any) -> Iterator[str]:
    keys = schema.key_schema if schema else None
    values = schema.value_schema if schema else None
    if schema is not None and schema.type is SchemaType.STRUCT:
        values = schema.fields.get(key)
        if value is None and values is not None:
            value = values.default
    yield from _written(keys, key, embedded=True)
    yield ":"
    yield from _written(values, value, embedded=True)


def _scalar(schema: Schema | None, value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        single = schema is not None and schema.type is SchemaType.FLOAT32
        return float_text(np.float32(value) if single else value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return moment_text(value) if isinstance(value, dt.date | dt.time) else str(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
