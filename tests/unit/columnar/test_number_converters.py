"""The bytes of the converters for single numbers are those of Kafka's serializers."""

from typing import Any

import pyarrow as pa
import pytest

from penstock.columnar.number_converters import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    NumberConverter,
    ShortConverter,
)
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import SCHEMALESS, Schema, to_field


def made(kind: type[NumberConverter]) -> NumberConverter:
    converter = kind()
    converter.configure({}, is_key=False)
    return converter


@pytest.mark.parametrize(
    ("kind", "value", "data"),
    [
        (ShortConverter, -2, "fffe"),
        (IntegerConverter, 258, "00000102"),
        (LongConverter, 258, "0000000000000102"),
        (FloatConverter, 1.5, "3fc00000"),
        (DoubleConverter, -2.0, "c000000000000000"),
        (BooleanConverter, True, "01"),
        (BooleanConverter, False, "00"),
    ],
)
def test_are_big_endian(kind: type[NumberConverter], value: Any, data: str) -> None:
    field = to_field(Schema(kind.kind), "value")
    encoded = made(kind).encode(pa.array([value, None], field.type), field)
    assert encoded.to_pylist() == [bytes.fromhex(data), None]
    [run] = made(kind).decode(encoded)
    assert run.array.to_pylist() == [value, None]


def test_a_slice_is_read_from_its_own_rows() -> None:
    data = pa.array([b"\0\1", b"\0\2", None, b"\0\4"]).slice(1)
    [run] = made(ShortConverter).decode(data)
    assert run.array.to_pylist() == [2, None, 4]


@pytest.mark.parametrize(("kind", "data"), [(LongConverter, b"1"), (BooleanConverter, b"\2")])
def test_other_bytes_name_their_row(kind: type[NumberConverter], data: bytes) -> None:
    good = bytes(8) if kind is LongConverter else b"\0"
    with pytest.raises(RecordError, match="Failed to deserialize") as caught:
        made(kind).decode(pa.array([good, data]))
    assert caught.value.row == 1


def test_numbers_without_a_schema_are_long_or_double() -> None:
    texts = pa.array(["5", None], SCHEMALESS.type)
    assert made(LongConverter).encode(texts, SCHEMALESS).to_pylist() == [bytes(7) + b"\5", None]
    with pytest.raises(RecordError, match="schemaless int"):
        made(IntegerConverter).encode(texts, SCHEMALESS)
