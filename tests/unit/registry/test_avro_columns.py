"""Connect's schemas and values in Avro, as Confluent's AvroConverter has them."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.columnar.json_text import Misfit
from penstock.registry.avro_columns import AvroColumnReader, AvroColumnWriter
from penstock.registry.avro_encoding import varints
from penstock.registry.avro_reading import AvroReader
from penstock.registry.avro_writing import AvroWriter
from penstock.registry.wire import header
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import Schema, SchemaType, from_field, to_field, to_type

HEAD = header(7)
NOON = dt.datetime(2026, 11, 18, 12, tzinfo=dt.UTC)
VALUES: list[tuple[Schema, Any]] = [
    (Schema.int8(), -5),
    (Schema.int16(), 300),
    (Schema.int32(), -70_000),
    (Schema.int64(), 2**40),
    (Schema.float32(), 1.5),
    (Schema.float64(), 0.1),
    (Schema.boolean(), True),
    (Schema.string(), "ü"),
    (Schema.bytes(), b"\xff\0"),
    (Schema.decimal(2), Decimal("-12.30")),
    (Schema.date(), dt.date(1969, 12, 31)),
    (Schema.time(), dt.time(12, 30, 15, 7000)),
    (Schema.timestamp(), NOON),
    (Schema.array(Schema.int16(optional=True)), [1, None]),
    (Schema.array(Schema.timestamp()), [NOON]),
    (Schema.map(Schema.string(), Schema.date(optional=True)), [("a", dt.date(2026, 1, 1))]),
    (Schema.map(Schema.int32(), Schema.string()), [(1, "a"), (2, "b")]),
    (Schema.map(Schema.string(), Schema.map(Schema.string(), Schema.int32())), [("a", [("b", 1)])]),
    (Schema.struct({}), {}),
    (Schema.struct({"when": Schema.timestamp(optional=True)}, name="acme.When"), {"when": NOON}),
    (
        Schema.struct({"a": Schema.struct({"b": Schema.decimal(3, optional=True)})}),
        {"a": {"b": Decimal("0.125")}},
    ),
]


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize(("schema", "value"), VALUES, ids=lambda each: getattr(each, "name", ""))
def test_what_is_written_is_read_again_with_its_schema(
    schema: Schema, value: Any, optional: bool
) -> None:
    schema = replace(schema, optional=optional)
    writer = AvroColumnWriter(schema)
    array = pa.array([value, None, value], to_type(schema))
    data = writer.write(array, HEAD)
    assert data.is_null().to_pylist() == [False, True, False]
    reader = AvroColumnReader(writer.text, "value")
    assert from_field(reader.field) == schema
    assert reader.field == to_field(schema, "value")
    read = reader.read(data)
    read.validate(full=True)
    assert read.to_pylist() == [value, None, value]
    assert reader.read(data.slice(2)).to_pylist() == [value]


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize(("schema", "value"), VALUES, ids=lambda each: getattr(each, "name", ""))
def test_columns_are_written_as_fastavro_writes_rows(
    schema: Schema, value: Any, optional: bool
) -> None:
    inner = replace(schema, optional=optional)
    whole = Schema.struct({"a": inner, "b": Schema.int32(), "c": Schema.array(inner)})
    rows = [{"a": value, "b": n, "c": [value] * n} for n in (-1, 0, 1, 2)]
    if optional:
        rows.append({"a": None, "b": 5, "c": [value, None]})
    columns, by_row = AvroColumnWriter(whole), AvroColumnWriter(whole)
    array = pa.array([None, *rows], to_type(whole))
    expected = by_row._by_row(by_row._numbers(array), HEAD).to_pylist()
    assert columns.write(array, HEAD).to_pylist() == expected
    assert columns.write(array.slice(2), HEAD).to_pylist() == expected[2:]


def test_flat_records_are_read_at_once_as_fastavro_reads_rows() -> None:
    rng = random.Random(7)
    kinds = [each for each, _ in VALUES if each.type not in (SchemaType.ARRAY, SchemaType.MAP)]
    # A record with a name would be defined once and named after that, which is read row by row.
    kinds = [each for each in kinds if each.logical or not each.name]
    kinds = [each for each in kinds if each.type is not SchemaType.STRUCT or each.fields]
    inner = {f"f{n}": replace(each, optional=n % 2 == 0) for n, each in enumerate(kinds)}
    named = {schema: value for schema, value in VALUES if schema in kinds}
    schema = Schema.struct({**inner, "in": Schema.struct(inner, optional=True)}, optional=True)

    def made() -> dict[str, Any]:
        return {
            name: None if each.optional and rng.random() < 0.5 else named[kind]
            for (name, each), kind in zip(inner.items(), kinds, strict=True)
        }

    rows = [None if n % 7 == 3 else {**made(), "in": made() if n % 3 else None} for n in range(50)]
    writer = AvroColumnWriter(schema)
    data = writer.write(pa.array(rows, to_type(schema)), HEAD)
    reader = AvroColumnReader(writer.text, "value")
    assert reader._columns is not None
    at_once = reader._at_once(reader._columns, data).cast(reader.field.type)
    at_once.validate(full=True)
    assert at_once.equals(reader._by_row(data))
    assert at_once.to_pylist() == rows
    part = data.slice(10, 20)
    assert reader._at_once(reader._columns, part).cast(reader.field.type).to_pylist() == rows[10:30]


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=24), min_size=1, max_size=4))
def test_any_bytes_are_read_as_fastavro_reads_them(rows: list[bytes]) -> None:
    """Both ways give the same values, or the same row is at fault."""
    fields = {"a": Schema.int32(optional=True), "b": Schema.string(), "c": Schema.boolean()}
    reader = AvroColumnReader(AvroColumnWriter(Schema.struct(fields)).text, "value")
    data = pa.array([HEAD + row for row in rows])

    def outcome(read: Callable[[pa.Array], pa.Array]) -> Any:
        try:
            return read(data).to_pylist()
        except RecordError as error:
            return error.row

    assert outcome(reader.read) == outcome(reader._by_row)


def test_numbers_of_every_size() -> None:
    numbers = [n for bits in range(64) for n in (2**bits - 1, -(2**bits))]
    expected = []
    for number in numbers:
        out = BytesIO()
        fastavro.schemaless_writer(out, "long", number)
        expected.append(out.getvalue())
    assert varints(np.array(numbers, np.int64)).to_pylist() == expected
    data = pa.array([HEAD + each for each in expected])
    read = AvroColumnReader('"long"', "value")
    assert read._columns is not None
    assert read._at_once(read._columns, data).to_pylist() == numbers
    assert varints(np.array([], np.int64)).to_pylist() == []


def test_a_null_in_a_required_field_is_named_by_row_and_one_in_a_null_struct_is_none() -> None:
    inner = Schema.struct({"x": Schema.int32()}, optional=True)
    schema = Schema.struct({"in": inner, "n": Schema.int32(optional=True)})
    writer = AvroColumnWriter(schema)
    rows = [{"in": None, "n": 1}, {"in": {"x": 2}, "n": None}]
    data = writer.write(pa.array(rows, to_type(schema)), HEAD)
    assert AvroColumnReader(writer.text, "value").read(data).to_pylist() == rows
    loose = pa.struct([("in", pa.struct([("x", pa.int32())])), ("n", pa.int32())])
    with pytest.raises(RecordError) as caught:
        writer.write(pa.array([*rows, {"in": {"x": None}, "n": 1}], loose), HEAD)
    assert caught.value.row == 2


def test_schemas_are_those_of_confluents_converter() -> None:
    """Texts as they are found in registries in the wild."""
    order = Schema.struct(
        {
            "id": Schema.int32(),
            "small": Schema.int8(),
            "price": Schema.decimal(2),
            "at": Schema.timestamp(optional=True),
            "note": Schema.string(optional=True, default="-"),
        },
        name="com.acme.Order",
        version=2,
    )
    made = AvroWriter().avro(order)
    assert made == {
        "type": "record",
        "name": "Order",
        "namespace": "com.acme",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "small", "type": {"type": "int", "connect.type": "int8"}},
            {
                "name": "price",
                "type": {
                    "type": "bytes",
                    "scale": 2,
                    "precision": 64,
                    "connect.version": 1,
                    "connect.parameters": {"scale": "2"},
                    "connect.name": "org.apache.kafka.connect.data.Decimal",
                    "logicalType": "decimal",
                },
            },
            {
                "name": "at",
                "type": [
                    "null",
                    {
                        "type": "long",
                        "connect.version": 1,
                        "connect.name": "org.apache.kafka.connect.data.Timestamp",
                        "logicalType": "timestamp-millis",
                    },
                ],
                "default": None,
            },
            {"name": "note", "type": ["string", "null"], "default": "-"},
        ],
        "connect.version": 2,
        "connect.name": "com.acme.Order",
    }
    assert AvroReader().schema(made) == order


@pytest.mark.parametrize(
    "schema",
    [
        Schema.int64(default=3),
        Schema.date(default=dt.date(2026, 1, 2)),
        Schema.time(default=dt.time(1, 2, 3)),
        Schema.timestamp(default=NOON),
        Schema.decimal(2, default=Decimal("-1.25")),
        Schema.bytes(default=b"\xff"),
        Schema.float32(default=1.0),
        Schema.string(default="x", doc="why", parameters={"a": "b"}),
    ],
)
def test_defaults(schema: Schema) -> None:
    whole = Schema.struct({"a": schema, "b": replace(schema, optional=True)})
    assert AvroReader().schema(AvroWriter().avro(whole)) == whole
    AvroColumnWriter(whole)


def test_a_record_that_is_used_twice_is_defined_once() -> None:
    point = Schema.struct({"x": Schema.int32()}, name="acme.Point")
    line = Schema.struct({"a": point, "b": replace(point, optional=True)})
    writer = AvroColumnWriter(line)
    value = {"a": {"x": 1}, "b": {"x": 2}}
    data = writer.write(pa.array([value], to_type(line)), HEAD)
    reader = AvroColumnReader(writer.text, "value")
    assert from_field(reader.field) == line
    assert reader.read(data).to_pylist() == [value]
    other = Schema.struct({"a": point, "b": Schema.struct({}, name="acme.Point")})
    with pytest.raises(Misfit, match="two different schemas"):
        AvroColumnWriter(other)


def read_one(avro: Any, value: Any) -> tuple[Schema | None, Any]:
    """A record as another writer makes it."""
    out = BytesIO(HEAD)
    out.seek(0, 2)
    fastavro.schemaless_writer(out, fastavro.parse_schema(avro), value)
    reader = AvroColumnReader(json.dumps(avro), "value")
    return from_field(reader.field), reader.read(pa.array([out.getvalue()])).to_pylist()[0]


def test_types_of_other_writers() -> None:
    enum = {"type": "enum", "name": "Colour", "symbols": ["RED"]}
    schema, value = read_one(enum, "RED")
    assert value == "RED"
    assert schema is not None
    assert schema.parameters["io.confluent.connect.avro.Enum"] == "Colour"
    assert read_one({"type": "fixed", "name": "Two", "size": 2}, b"ab")[1] == b"ab"
    fixed = {"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal"}
    assert read_one({**fixed, "precision": 9, "scale": 2}, Decimal("1.25"))[1] == Decimal("1.25")
    micros = {"type": "long", "logicalType": "timestamp-micros"}
    assert read_one(micros, 5) == (Schema.int64(), 5)
    assert read_one({"type": "string", "logicalType": "uuid"}, "x")[0] == Schema.string()
    inner = {"type": "record", "name": "B", "fields": [{"name": "c", "type": "int"}]}
    outer = {
        "type": "record",
        "name": "acme.A",
        "fields": [{"name": "b", "type": inner}, {"name": "d", "type": "B"}],
    }
    assert read_one(outer, {"b": {"c": 1}, "d": {"c": 2}})[1] == {"b": {"c": 1}, "d": {"c": 2}}


@pytest.mark.parametrize(
    ("avro", "why"),
    [
        (["int", "string"], "a union of more than one type"),
        (
            {"type": "record", "name": "N", "fields": [{"name": "n", "type": ["null", "N"]}]},
            "itself",
        ),
        ("Unknown", "not defined"),
        ({"no": "type"}, "not an Avro schema"),
    ],
)
def test_schemas_that_connect_has_no_words_for(avro: Any, why: str) -> None:
    with pytest.raises(Misfit, match=why):
        AvroColumnReader(json.dumps(avro), "value")


@pytest.mark.parametrize("bad", [b"", b"\x02", b"\x02\xc8\x01a", b"\x02\x02a\0", b"\xff" * 20])
def test_bytes_that_are_no_avro_are_named_by_row(bad: bytes) -> None:
    """Too short, cut off, longer than they say, with more behind them: whatever follows."""
    schema = Schema.struct({"a": Schema.int32(), "b": Schema.string()})
    writer = AvroColumnWriter(schema)
    good = writer.write(pa.array([{"a": 1, "b": "x"}], to_type(schema)), HEAD)[0].as_py()
    reader = AvroColumnReader(writer.text, "value")
    for rows in ([good, None, HEAD + bad, good], [good, None, HEAD + bad]):
        with pytest.raises(RecordError) as caught:
            reader.read(pa.array(rows))
        assert caught.value.row == 2
    assert reader.read(pa.array([good])).to_pylist() == [{"a": 1, "b": "x"}]


def test_a_number_that_arrow_cannot_hold_is_named_by_row() -> None:
    avro = {"type": "bytes", "logicalType": "decimal", "precision": 64, "scale": 0}
    out = BytesIO(HEAD)
    out.seek(0, 2)
    fastavro.schemaless_writer(out, fastavro.parse_schema(avro), Decimal(10) ** 50)
    reader = AvroColumnReader(json.dumps(avro), "value")
    with pytest.raises(RecordError) as caught:
        reader.read(pa.array([None, out.getvalue()]))
    assert caught.value.row == 1


def test_finer_units_and_other_arrow_types_are_written() -> None:
    array = pa.array([1_500_000_001], pa.timestamp("ns", tz="Europe/Paris"))
    writer = AvroColumnWriter(from_field(pa.field("value", array.type)) or Schema.string())
    read = AvroColumnReader(writer.text, "value").read(writer.write(array, HEAD))
    assert read.to_pylist() == [dt.datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=dt.UTC)]
    plain = pa.StructArray.from_arrays([pa.array(["a"]).dictionary_encode()], ["s"])
    schema = from_field(pa.field("value", plain.type))
    assert schema is not None
    writer = AvroColumnWriter(schema)
    assert AvroColumnReader(writer.text, "value").read(writer.write(plain, HEAD)).to_pylist() == [
        {"s": "a"}
    ]
