"""Connect schemas in Arrow, there and back."""

import datetime as dt
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sdk.errors import PenstockError
from penstock.sdk.schema import (
    DECIMAL,
    METADATA,
    SCHEMALESS,
    Schema,
    SchemaType,
    from_field,
    is_schemaless,
    to_field,
)

texts = st.text(st.characters(codec="utf-8"), max_size=8)
moments = st.datetimes(timezones=st.just(dt.UTC))

DEFAULTS: dict[str, tuple[Callable[..., Schema], st.SearchStrategy[Any]]] = {
    "int8": (Schema.int8, st.integers(-128, 127)),
    "int64": (Schema.int64, st.integers(-(2**63), 2**63 - 1)),
    "float32": (Schema.float32, st.floats(width=32, allow_nan=False)),
    "float64": (Schema.float64, st.floats(allow_nan=False)),
    "boolean": (Schema.boolean, st.booleans()),
    "string": (Schema.string, texts),
    "bytes": (Schema.bytes, st.binary(max_size=8)),
    "date": (Schema.date, st.dates()),
    "time": (Schema.time, st.times()),
    "timestamp": (Schema.timestamp, moments),
}


def extras() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"optional": st.booleans()},
        optional={
            "name": texts,
            "version": st.integers(0, 9),
            "doc": texts,
            "parameters": st.dictionaries(texts, texts, max_size=2),
        },
    )


@st.composite
def leaves(draw: st.DrawFn) -> Schema:
    kind = draw(st.sampled_from(sorted(DEFAULTS)))
    make, defaults = DEFAULTS[kind]
    default = draw(st.none() | defaults)
    if kind in ("date", "time", "timestamp"):
        return make(optional=draw(st.booleans()), default=default)
    return make(default=default, **draw(extras()))


@st.composite
def decimals(draw: st.DrawFn) -> Schema:
    scale = draw(st.integers(0, 38))
    digits = st.integers(-(10**30), 10**30)
    default = draw(st.none() | digits.map(lambda n: Decimal(f"{n}E-{scale}")))
    return Schema.decimal(scale, optional=draw(st.booleans()), default=default)


def containers(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    fields = st.dictionaries(texts, inner, max_size=3)
    return (
        st.builds(lambda items, more: Schema.array(items, **more), inner, extras())
        | st.builds(lambda k, v, more: Schema.map(k, v, **more), leaves(), inner, extras())
        | st.builds(lambda fields, more: Schema.struct(fields, **more), fields, extras())
    )


schemas = st.recursive(leaves() | decimals(), containers, max_leaves=6)


def through_ipc(field: pa.Field) -> pa.Field:
    return pa.ipc.read_schema(pa.schema([field]).serialize()).field(0)


@given(schemas, texts)
def test_the_way_to_arrow_and_back_is_identity(schema: Schema, name: str) -> None:
    field = to_field(schema, name)
    assert from_field(field) == schema
    assert from_field(through_ipc(field)) == schema
    assert hash(from_field(field)) == hash(schema)


@given(schemas)
def test_a_schema_can_be_pickled(schema: Schema) -> None:
    hash(schema)
    assert pickle.loads(pickle.dumps(schema)) == schema  # noqa: S301 (pickled just above)


@pytest.mark.parametrize(
    "schema",
    [
        Schema.struct(
            {"a": Schema.int32(), "b": Schema.bytes()}, default={"a": 1, "b": b"\x00\xff"}
        ),
        Schema.array(Schema.decimal(2), default=[Decimal("1.50")]),
        Schema.map(Schema.int32(), Schema.date(), default={1: dt.date(2024, 2, 29)}),
        Schema.map(Schema.string(), Schema.string(optional=True), default={"a": None}),
        Schema.map(Schema.string(optional=True), Schema.string()),
        Schema.float64(default=float("inf")),
        Schema.boolean(default=False),
        Schema(SchemaType.BYTES, name=DECIMAL),
        Schema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "99"}),
        Schema(SchemaType.INT32, name="org.apache.kafka.connect.data.Date"),
    ],
)
def test_defaults_and_odd_ones_survive(schema: Schema) -> None:
    assert from_field(through_ipc(to_field(schema, "f"))) == schema


def test_the_order_of_fields_matters() -> None:
    one = {"a": Schema.int32(), "b": Schema.int32()}
    assert Schema.struct(one) != Schema.struct(dict(reversed(one.items())))
    assert Schema.struct(one) == Schema.struct(dict(one))
    assert Schema.string(default="a") != Schema.string(default="b")
    assert Schema.string() != "string"


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (Schema.int8(), pa.int8()),
        (Schema.int16(), pa.int16()),
        (Schema.int32(), pa.int32()),
        (Schema.float32(), pa.float32()),
        (Schema.decimal(4), pa.decimal128(38, 4)),
        (Schema.date(), pa.date32()),
        (Schema.time(), pa.time32("ms")),
        (Schema.timestamp(), pa.timestamp("ms", tz="UTC")),
        (Schema.array(Schema.string(optional=True)), pa.list_(pa.string())),
        (
            Schema.struct({"a": Schema.int32()}),
            pa.struct([pa.field("a", pa.int32(), nullable=False)]),
        ),
    ],
)
def test_arrow_types(schema: Schema, kind: pa.DataType) -> None:
    assert to_field(schema, "f").type == kind
    assert to_field(schema, "f").nullable


def test_metadata_holds_only_what_the_type_cannot_say() -> None:
    assert to_field(Schema.int64(optional=True), "f").metadata is None
    assert to_field(Schema.date(optional=True), "f").metadata is None
    assert to_field(Schema.int64(), "f").metadata == {METADATA: b'{"optional": false}'}


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (pa.large_string(), Schema.string()),
        (pa.string_view(), Schema.string()),
        (pa.large_binary(), Schema.bytes()),
        (pa.binary(4), Schema.bytes()),
        (pa.dictionary(pa.int32(), pa.string()), Schema.string()),
        (pa.uint32(), Schema.int64()),
        (pa.float16(), Schema.float32()),
        (pa.date64(), Schema.date()),
        (pa.time64("ns"), Schema.time()),
        (pa.timestamp("us"), Schema.timestamp()),
        (pa.decimal128(10, 2), Schema.decimal(2)),
        (pa.large_list(pa.int8()), Schema.array(Schema.int8(optional=True))),
        (pa.list_(pa.int8(), 2), Schema.array(Schema.int8(optional=True))),
        (pa.uuid(), Schema.bytes()),
    ],
)
def test_plain_arrow_has_a_natural_schema(kind: pa.DataType, schema: Schema) -> None:
    assert from_field(pa.field("f", kind, nullable=False)) == schema


def test_other_metadata_does_no_harm() -> None:
    field = pa.field("f", pa.string(), metadata={"PARQUET:field_id": "1"})
    assert from_field(field) == Schema.string(optional=True)


@pytest.mark.parametrize("kind", [SCHEMALESS.type, pa.json_(pa.large_string()), pa.null()])
def test_schemaless_fields_have_no_schema(kind: pa.DataType) -> None:
    assert is_schemaless(pa.field("f", kind))
    assert from_field(pa.field("f", kind)) is None
    assert not is_schemaless(pa.field("f", pa.string()))


def test_says_which_arrow_type_has_no_schema() -> None:
    with pytest.raises(PenstockError, match=r'duration.* of field "f" has no Connect schema'):
        from_field(pa.field("f", pa.duration("s")))


def test_an_array_needs_the_schema_of_its_items() -> None:
    with pytest.raises(PenstockError, match="needs the schema of what is in it"):
        to_field(Schema(SchemaType.ARRAY), "f")


def test_a_field_of_a_plain_type_has_the_same_schema_again_and_no_others() -> None:
    text = pa.field("value", pa.string(), nullable=False)
    assert from_field(text) == Schema.string()
    assert from_field(text.with_nullable(True)) == Schema.string(optional=True)
    assert from_field(pa.field("value", pa.int64())) == Schema.int64(optional=True)
    named = to_field(Schema.string(name="a.b", doc="said"), "value")
    assert from_field(named) == Schema.string(name="a.b", doc="said")
    assert from_field(text) == Schema.string()
