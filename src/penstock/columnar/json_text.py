"""Arrow columns to JSON text, a whole column at a time.

Every function here returns a binary array of UTF-8 JSON with a null where the input has one. Text
is put together by Arrow's kernels; only bytes and decimals are handled value by value.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.sdk.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType, to_type

FEW: Final = 8
"""So many rows are written faster one by one than by Arrow's kernels, of which each call costs some
ten microseconds."""


class Misfit(ValueError):  # noqa: N818 (converters turn it into a RecordError with its row)
    """A value, or a schema, that JsonConverter cannot convert; the text says why."""


@dataclass(frozen=True)
class JsonOptions:
    """The settings of JsonConverter that reach down to single values."""

    numeric_decimals: bool = False
    replace_null_with_default: bool = True
    entry_objects: bool = False
    """Whether maps without names are arrays of objects with key and value, instead of pairs."""


def texts(array: pa.Array, schema: Schema, options: JsonOptions) -> pa.Array:
    """The JSON of every row; raises ``Misfit`` if some row does not fit the schema."""
    try:
        return _WRITERS[schema.logical or schema.type](array, schema, options)
    except pa.ArrowInvalid as error:
        raise Misfit(f"Conversion error: {error}") from None


def value_text(value: Any, schema: Schema, options: JsonOptions) -> bytes:
    """The JSON of one Python value."""
    text: bytes = texts(pa.array([value], to_type(schema)), schema, options)[0].as_py()
    return text


def _joined(*parts: Any) -> pa.Array:
    return pc.binary_join_element_wise(*parts, b"")


def _blanked(text: pa.Array, like: pa.Array) -> pa.Array:
    return pc.if_else(like.is_valid(), text, None) if like.null_count else text


def _inner(array: pa.Array, schema: Schema, allowed_nulls: int, options: JsonOptions) -> pa.Array:
    """Texts of what is inside of something else, where null has to be written out."""
    text = texts(array, schema, options)
    if array.null_count <= allowed_nulls:
        return text
    return text.fill_null(_null_text(schema, options))


def _null_text(schema: Schema, options: JsonOptions) -> bytes:
    if schema.default is not None and options.replace_null_with_default:
        return value_text(schema.default, schema, options)
    if schema.optional:
        return b"null"
    raise Misfit("Conversion error: null value for field that is required and has no default value")


def _struct(array: pa.Array, schema: Schema, options: JsonOptions) -> pa.Array:
    parts: list[Any] = []
    for (name, inner), column in zip(schema.fields.items(), array.flatten(), strict=True):
        parts.append((b"," if parts else b"{") + orjson.dumps(name) + b":")
        parts.append(_inner(column, inner, array.null_count, options))
    if not parts:
        return _blanked(pa.array([b"{}"] * len(array), pa.binary()), array)
    return _blanked(_joined(*parts, b"}"), array)


def _array(array: pa.Array, schema: Schema, options: JsonOptions) -> pa.Array:
    array = _compact(array.cast(pa.list_(array.type.value_field)))
    items = _inner(array.values, _of(schema.value_schema), 0, options)
    lists = pa.ListArray.from_arrays(array.offsets, items)
    return _blanked(_joined(b"[", pc.binary_join(lists, b","), b"]"), array)


def _map(array: pa.Array, schema: Schema, options: JsonOptions) -> pa.Array:
    array = _compact(array)
    keys = _inner(array.keys, _of(schema.key_schema), 0, options)
    values = _inner(array.items, _of(schema.value_schema), 0, options)
    by_name = _of(schema.key_schema).type is SchemaType.STRING
    pairs = _joined(keys, b":", values) if by_name else _entries(keys, values, options)
    lists = pc.binary_join(pa.ListArray.from_arrays(array.offsets, pairs), b",")
    return _blanked(_joined(b"{", lists, b"}") if by_name else _joined(b"[", lists, b"]"), array)


def _entries(keys: pa.Array, values: pa.Array, options: JsonOptions) -> pa.Array:
    if options.entry_objects:
        return _joined(b'{"key":', keys, b',"value":', values, b"}")
    return _joined(b"[", keys, b",", values, b"]")


def _compact(array: pa.Array) -> pa.Array:
    """The same rows with nothing unreferenced: offsets and values can be taken apart."""
    return array.take(pa.array(range(len(array)), pa.int64()))


def _of(schema: Schema | None) -> Schema:
    assert schema is not None, "to_field checked it"  # noqa: S101 (for mypy)
    return schema


def string_texts(array: pa.Array) -> pa.Array:
    """Strings in quotes, escaped."""
    if len(array) <= FEW and pa.types.is_string(array.type):
        with suppress(UnicodeDecodeError):
            texts = (None if text is None else orjson.dumps(text) for text in array.to_pylist())
            return pa.array(list(texts), pa.binary())
    plain = array.cast(pa.string()).cast(pa.binary())
    escaped = _replaced(plain, _QUOTED)
    if _any(pc.match_substring_regex(escaped, _CONTROL)):
        escaped = _replaced(escaped, _BLANKS)
        if _any(pc.match_substring_regex(escaped, _CONTROL)):
            return _each(plain, lambda text: orjson.dumps(text.decode()))
    return _joined(b'"', escaped, b'"')


_CONTROL: Final = r"[\x00-\x1f]"
_QUOTED: Final = ((b"\\", b"\\\\"), (b'"', b'\\"'))  # in this order
_BLANKS: Final = ((b"\t", b"\\t"), (b"\n", b"\\n"), (b"\r", b"\\r"))


def _replaced(array: pa.Array, pairs: tuple[tuple[bytes, bytes], ...]) -> pa.Array:
    for old, new in pairs:
        array = pc.replace_substring(array, old, new)
    return array


def _any(mask: pa.Array) -> bool:
    return pc.any(mask).as_py() is True


def float_texts(array: pa.Array) -> pa.Array:
    """Numbers as Java prints them, give or take the form of an exponent; not yet JSON."""
    text = pc.replace_substring_regex(array.cast(pa.string()), r"^(-?\d+)$", r"\1.0")
    if _any(pc.invert(pc.is_finite(array))):
        text = pc.replace_substring_regex(text, "^-?nan$", "NaN")
        text = pc.replace_substring(text, "inf", "Infinity")
    return text


def _floats(array: pa.Array) -> pa.Array:
    text = float_texts(array)
    if _any(pc.invert(pc.is_finite(array))):
        text = pc.replace_substring_regex(text, "^(NaN|-?Infinity)$", r'"\1"')
    return text.cast(pa.binary())


def _number(kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    return lambda array: array.cast(kind).cast(pa.string()).cast(pa.binary())


def _temporal(kind: pa.DataType, number: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    """Finer units than Kafka Connect's are cut off, as its own classes do."""
    return lambda array: _number(number)(array.cast(kind, safe=False).cast(number))


def _base64(array: pa.Array) -> pa.Array:
    return _each(array.cast(pa.binary()), lambda data: b'"' + base64.b64encode(data) + b'"')


def _each(array: pa.Array, write: Callable[[bytes], bytes]) -> pa.Array:
    values = array.to_pylist()
    return pa.array([None if value is None else write(value) for value in values], pa.binary())


def _decimal(array: pa.Array, schema: Schema, options: JsonOptions) -> pa.Array:
    array = array.cast(to_type(schema))
    if options.numeric_decimals:
        return array.cast(pa.string()).cast(pa.binary())
    return _base64(unscaled_bytes(array))


def unscaled_bytes(array: pa.Array) -> pa.Array:
    """The numbers of a decimal128 array without their scale, as Java's BigDecimal has them."""
    data = memoryview(array.buffers()[1] or b"")[16 * array.offset :]
    unscaled = (data[16 * row : 16 * row + 16] for row in range(len(array)))
    numbers = pa.array([_big_endian(number) for number in unscaled], pa.binary())
    return _blanked(numbers, array)


def _big_endian(little: memoryview) -> bytes:
    """The shortest two's complement, as Java's ``BigInteger.toByteArray`` makes it."""
    number = int.from_bytes(little, "little", signed=True)
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(size, "big", signed=True)


_Writer = Callable[[pa.Array, Schema, JsonOptions], pa.Array]


def _simple(write: Callable[[pa.Array], pa.Array]) -> _Writer:
    return lambda array, _schema, _options: write(array)


_WRITERS: Final[dict[str, _Writer]] = {
    SchemaType.INT8: _simple(_number(pa.int8())),
    SchemaType.INT16: _simple(_number(pa.int16())),
    SchemaType.INT32: _simple(_number(pa.int32())),
    SchemaType.INT64: _simple(_number(pa.int64())),
    SchemaType.FLOAT32: _simple(_floats),
    SchemaType.FLOAT64: _simple(_floats),
    SchemaType.BOOLEAN: _simple(_number(pa.bool_())),
    SchemaType.STRING: _simple(string_texts),
    SchemaType.BYTES: _simple(_base64),
    SchemaType.ARRAY: _array,
    SchemaType.MAP: _map,
    SchemaType.STRUCT: _struct,
    DECIMAL: _decimal,
    DATE: _simple(_temporal(pa.date32(), pa.int32())),
    TIME: _simple(_temporal(pa.time32("ms"), pa.int32())),
    TIMESTAMP: _simple(_temporal(pa.timestamp("ms", tz="UTC"), pa.int64())),
}
