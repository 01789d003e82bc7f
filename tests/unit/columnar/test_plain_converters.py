"""StringConverter and ByteArrayConverter."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.columnar.plain_converters import ByteArrayConverter, StringConverter
from penstock.sdk.errors import ConfigError, RecordError
from penstock.sdk.schema import SCHEMALESS, Schema, from_field, to_field


def string_converter(is_key: bool = False, **config: str) -> StringConverter:
    converter = StringConverter()
    converter.configure({k.replace("_", "."): v for k, v in config.items()}, is_key)
    return converter


def encode(values: list[Any], kind: pa.DataType) -> list[bytes | None]:
    encoded = string_converter().encode(pa.array(values, kind), pa.field("value", kind))
    assert encoded.type == pa.binary()
    values_out: list[bytes | None] = encoded.to_pylist()
    return values_out


@pytest.mark.parametrize(
    ("values", "kind", "texts"),
    [
        (["ä", None, ""], pa.string(), ["ä", None, ""]),
        (["a"], pa.large_string(), ["a"]),
        ([1, None, -5], pa.int32(), ["1", None, "-5"]),
        ([True, False], pa.bool_(), ["true", "false"]),
        ([1.0, 0.1, -2.5, 1e16], pa.float64(), ["1.0", "0.1", "-2.5", "1e+16"]),
        (
            [float("nan"), float("inf"), float("-inf")],
            pa.float64(),
            ["NaN", "Infinity", "-Infinity"],
        ),
        ([0.1, 3.0], pa.float32(), ["0.1", "3.0"]),
        (['{"a":1}', None, "12"], SCHEMALESS.type, ['{"a":1}', None, "12"]),
        (['"say \\"x\\""', "null"], SCHEMALESS.type, ['say "x"', "null"]),
        ([None, None], pa.null(), [None, None]),
    ],
)
def test_writes_text(values: list[Any], kind: pa.DataType, texts: list[str | None]) -> None:
    assert encode(values, kind) == [None if t is None else t.encode() for t in texts]


def test_strings_are_not_copied() -> None:
    array = pa.array(["a", "b"])
    encoded = string_converter().encode(array, pa.field("value", pa.string()))
    assert encoded.buffers()[2].address == array.buffers()[2].address
    (decoded,) = string_converter().decode(encoded)
    assert decoded.array.buffers()[2].address == array.buffers()[2].address


def test_reads_anything_as_text() -> None:
    (decoded,) = string_converter(is_key=True).decode(pa.array([b"\xc3\xa4", None, b"a\xff"]))
    assert decoded.array.to_pylist() == ["ä", None, "a\ufffd"]
    assert decoded.field.name == "key"
    assert from_field(decoded.field) == Schema.string(optional=True)


@given(
    st.lists(st.none() | st.text(st.characters(codec="utf-8"))),
    st.sampled_from(["UTF-8", "UTF-16"]),
)
def test_text_survives(texts: list[str | None], encoding: str) -> None:
    converter = string_converter(converter_encoding=encoding)
    array = pa.array(texts, pa.string())
    runs = converter.decode(converter.encode(array, pa.field("value", pa.string())))
    assert [text for run in runs for text in run.array.to_pylist()] == texts


def test_an_unknown_encoding() -> None:
    with pytest.raises(ConfigError, match=r"converter\.encoding: Unknown encoding"):
        string_converter(converter_encoding="EBCDIC-99")


def test_a_struct_is_no_text() -> None:
    schema = Schema.struct({"a": Schema.int32()})
    field = to_field(schema, "value")
    with pytest.raises(RecordError, match=r"STRUCT.*value\.converter=.*JsonConverter") as caught:
        string_converter().encode(pa.array([None, {"a": 1}], field.type), field)
    assert caught.value.row == 1


def byte_array_converter() -> ByteArrayConverter:
    converter = ByteArrayConverter()
    converter.configure({}, is_key=False)
    return converter


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)])
def test_bytes_stay_as_they_are(kind: pa.DataType) -> None:
    array = pa.array([b"\x00\xff", None], kind)
    encoded = byte_array_converter().encode(array, pa.field("value", kind))
    assert encoded.to_pylist() == [b"\x00\xff", None]
    (decoded,) = byte_array_converter().decode(encoded)
    assert decoded.array.to_pylist() == [b"\x00\xff", None]
    assert from_field(decoded.field) == Schema.bytes(optional=True)


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        ([None, "a"], pa.string(), "STRING"),
        ([None, "1"], SCHEMALESS.type, "schemaless values"),
        ([None, 1], pa.decimal128(38, 2), "org.apache.kafka.connect.data.Decimal"),
    ],
)
def test_only_bytes_are_bytes(values: list[Any], kind: pa.DataType, found: str) -> None:
    message = f"Invalid schema type for ByteArrayConverter: {found}"
    with pytest.raises(RecordError, match=message) as caught:
        byte_array_converter().encode(pa.array(values, kind), pa.field("value", kind))
    assert caught.value.row == 1


def test_nothing_has_no_type() -> None:
    nothing = pa.nulls(2, pa.string())
    encoded = byte_array_converter().encode(nothing, pa.field("value", pa.string()))
    assert encoded.type == pa.binary()
    assert encoded.to_pylist() == [None, None]


def test_a_batch_without_values_has_no_type_to_refuse() -> None:
    """As when the only record that could not be written was left out."""
    field = to_field(Schema.struct({"a": Schema.string()}, optional=True), "value")
    for rows in (0, 2):
        written = string_converter().encode(pa.nulls(rows, field.type), field)
        assert written.to_pylist() == [None] * rows
