"""What every converter promises (see ``penstock.sdk.converters.Converter``).

A new converter joins by adding a ``Case``; nothing below names any single one.
"""

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.number_converters import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
)
from penstock.columnar.plain_converters import ByteArrayConverter, StringConverter
from penstock.registry.avro_converter import AvroConverter
from penstock.registry.json_schema_converter import JsonSchemaConverter
from penstock.sdk.config import ConfigDef
from penstock.sdk.converters import Converter, Decoded
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import SCHEMALESS, Schema, to_field

PERSON = Schema.struct({"id": Schema.int32(), "name": Schema.string(optional=True)})


@dataclass(frozen=True)
class Case:
    """A converter, a column that it takes, and rows that it refuses, if there are any."""

    name: str
    make: Callable[[], Converter]
    column: pa.Field
    values: list[Any]
    config: Mapping[str, str] = field(default_factory=dict)
    unreadable: bytes | None = None
    unwritable: tuple[pa.Field, Any] | None = None
    registry: bool = False

    def converter(self, is_key: bool = False) -> Converter:
        converter = self.make()
        converter.configure(self.config, is_key)
        return converter

    def array(self) -> pa.Array:
        return pa.array(self.values, self.column.type)

    def encoded(self) -> pa.Array:
        return self.converter().encode(self.array(), self.column)


TEXT = to_field(Schema.string(optional=True), "value")
BYTES = to_field(Schema.bytes(optional=True), "value")
STRUCT = to_field(PERSON, "value")
PLAIN = {"schemas.enable": "false"}

CASES = [
    Case("string", StringConverter, TEXT, ["a", None, "ü"], unwritable=(BYTES, b"x")),
    Case(
        "string, latin",
        StringConverter,
        TEXT,
        ["a", None, "ü"],
        {"converter.encoding": "ISO-8859-1"},
        unwritable=(STRUCT, {"id": 1}),
    ),
    *(
        Case(
            made.__name__,
            made,
            to_field(Schema(made.kind, optional=True), "value"),
            values,
            unreadable=b"abc",
            unwritable=(TEXT, "x"),
        )
        for made, values in (
            (ShortConverter, [1, None, -300]),
            (IntegerConverter, [1, None, -70000]),
            (LongConverter, [1, None, -(2**40)]),
            (FloatConverter, [1.5, None, -0.0]),
            (DoubleConverter, [0.1, None, 1e300]),
            (BooleanConverter, [True, None, False]),
        )
    ),
    Case("bytes", ByteArrayConverter, BYTES, [b"a", None, b"\xff"], unwritable=(TEXT, "x")),
    Case(
        "json, struct",
        JsonConverter,
        STRUCT,
        [{"id": 1, "name": None}, None, {"id": 3, "name": "c"}],
        unreadable=b'{"a":1}',
        unwritable=(STRUCT, {"id": None}),
    ),
    Case("json, text", JsonConverter, TEXT, ["a", None, 'ü"'], unreadable=b"x"),
    Case("json, no schema", JsonConverter, SCHEMALESS, ["1", None, '{"a":2}'], unreadable=b"{}"),
    Case(
        "plain json",
        JsonConverter,
        SCHEMALESS,
        ['"a"', None, "[3]"],
        PLAIN,
        unreadable=b"nul",
    ),
]
OF_REGISTRY = [
    Case(
        name,
        made,
        column,
        values,
        unreadable=b"\0\0\0\0\1",
        unwritable=(STRUCT, {"id": None}),
        registry=True,
    )
    for name, made, column, values in (
        (
            "avro, struct",
            AvroConverter,
            STRUCT,
            [{"id": 1, "name": None}, None, {"id": 3, "name": "c"}],
        ),
        ("avro, text", AvroConverter, TEXT, ["a", None, "ü"]),
        ("json schema, struct", JsonSchemaConverter, STRUCT, [{"id": 1, "name": "b"}, None]),
        ("json schema, text", JsonSchemaConverter, TEXT, ["a", None, "ü"]),
        ("json schema, none", JsonSchemaConverter, SCHEMALESS, ["1", None, '{"a":2}']),
    )
]


@pytest.fixture(
    params=[*CASES, *(pytest.param(each, marks=pytest.mark.heavy) for each in OF_REGISTRY)],
    ids=lambda case: case.name,
)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    if not found.registry:
        return found
    return replace(
        found, config={"schema.registry.url": request.getfixturevalue("schema_registry")}
    )


def rows(runs: list[Decoded]) -> list[Any]:
    return [value for run in runs for value in run.array.to_pylist()]


def test_says_who_it_is(case: Case) -> None:
    assert case.make().connect_class.startswith(("org.apache.kafka.connect.", "io.confluent."))
    assert isinstance(case.make().config_def, ConfigDef)


def test_encode_gives_one_binary_row_per_row(case: Case) -> None:
    encoded = case.encoded()
    assert encoded.type == pa.binary()
    assert len(encoded) == len(case.values)


def test_null_in_null_out(case: Case) -> None:
    encoded = case.encoded()
    assert encoded.is_null().to_pylist() == [value is None for value in case.values]
    assert rows(case.converter().decode(pa.nulls(3, pa.binary()))) == [None] * 3


def test_a_column_of_nothing_is_written_as_nothing(case: Case) -> None:
    nothing = pa.field("value", pa.null())
    encoded = case.converter().encode(pa.nulls(2), nothing)
    assert encoded.type == pa.binary()
    assert encoded.to_pylist() == [None, None]


def test_what_was_written_is_read_again_in_order(case: Case) -> None:
    assert rows(case.converter().decode(case.encoded())) == case.values


def test_runs_cover_all_rows_in_order(case: Case) -> None:
    runs = case.converter().decode(pa.concat_arrays([case.encoded()] * 3))
    starts = [0]
    for run in runs:
        assert run.start == starts[-1]
        assert run.array.type == run.field.type
        run.array.validate(full=True)
        starts.append(run.start + len(run.array))
    assert starts[-1] == 3 * len(case.values)


def test_no_rows(case: Case) -> None:
    encoded = case.converter().encode(case.array().slice(0, 0), case.column)
    assert encoded.type == pa.binary()
    assert len(encoded) == 0
    assert case.converter().decode(encoded) == []


def test_slices(case: Case) -> None:
    part = case.array().slice(1)
    assert case.converter().encode(part, case.column).to_pylist() == case.encoded().to_pylist()[1:]
    assert rows(case.converter().decode(case.encoded().slice(2))) == case.values[2:]


def test_large_binary_is_read_as_well(case: Case) -> None:
    assert rows(case.converter().decode(case.encoded().cast(pa.large_binary()))) == case.values


@pytest.mark.parametrize("is_key", [True, False])
def test_the_field_is_named_for_its_side(case: Case, is_key: bool) -> None:
    (run,) = case.converter(is_key).decode(case.encoded())
    assert run.field.name == ("key" if is_key else "value")


def test_picklable_once_configured_and_after_use(case: Case) -> None:
    converter = case.converter()
    for _ in range(2):
        copy = pickle.loads(pickle.dumps(converter))  # noqa: S301 (pickled just above)
        assert copy.encode(case.array(), case.column).to_pylist() == case.encoded().to_pylist()
        assert rows(copy.decode(case.encoded())) == case.values
        converter.decode(converter.encode(case.array(), case.column))


def test_an_error_in_decoding_names_the_row(case: Case) -> None:
    if case.unreadable is None:
        pytest.skip("reads anything")
    data = pa.concat_arrays([case.encoded(), pa.array([case.unreadable])])
    with pytest.raises(RecordError) as caught:
        case.converter().decode(data)
    assert caught.value.row == len(case.values)
    with pytest.raises(RecordError) as caught:
        case.converter().decode(data.slice(1))
    assert caught.value.row == len(case.values) - 1


def test_an_error_in_encoding_names_the_row(case: Case) -> None:
    if case.unwritable is None:
        pytest.skip("writes anything")
    column, value = case.unwritable
    array = pa.array([None, None, value], column.type)
    with pytest.raises(RecordError) as caught:
        case.converter().encode(array, column)
    assert caught.value.row == 2
    with pytest.raises(RecordError) as caught:
        case.converter().encode(array.slice(1), column)
    assert caught.value.row == 1


def test_a_failure_leaves_no_trace(case: Case) -> None:
    converter = case.converter()
    if case.unreadable is not None:
        with pytest.raises(RecordError):
            converter.decode(pa.array([case.unreadable]))
    assert rows(converter.decode(case.encoded())) == case.values
