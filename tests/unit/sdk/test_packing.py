"""Rows to batches."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sdk.batches import COLUMNS, HEADERS, TOPIC
from penstock.sdk.errors import RecordError
from penstock.sdk.packing import pack
from penstock.sdk.records import SourceRecord
from penstock.sdk.schema import SCHEMALESS, Schema, from_field, is_schemaless

PERSON = Schema.struct({"id": Schema.int32(), "name": Schema.string(optional=True)})


def record(value: Any, schema: Schema | None = None, **more: Any) -> SourceRecord:
    where = more.pop("at", ("f", 0))
    return SourceRecord({"file": where[0]}, {"position": where[1]}, "t", value, schema, **more)


def test_nothing_packs_to_nothing() -> None:
    assert pack([]) == []


def test_the_layout_is_that_of_batches() -> None:
    (batch,) = pack(
        [
            record(
                "v",
                Schema.string(),
                key=1,
                key_schema=Schema.int32(),
                kafka_partition=3,
                timestamp=5,
                headers=[("h", b"x"), ("h", None)],
            ),
            record("w", Schema.string(), key_schema=Schema.int32()),
        ]
    )
    records = batch.records
    records.validate(full=True)
    assert tuple(records.schema.names) == COLUMNS
    assert records.schema.field("topic").type == TOPIC
    assert records.schema.field("headers").type == HEADERS
    assert from_field(records.schema.field("key")) == Schema.int32()
    assert records.to_pylist() == [
        {
            "topic": "t",
            "partition": 3,
            "key": 1,
            "value": "v",
            "timestamp": 5,
            "headers": [{"key": "h", "value": b"x"}, {"key": "h", "value": None}],
        },
        {
            "topic": "t",
            "partition": None,
            "key": None,
            "value": "w",
            "timestamp": None,
            "headers": None,
        },
    ]


def test_each_run_of_equal_schemas_is_one_batch() -> None:
    text, number = Schema.string(), Schema.int64()
    rows = [record("a", text), record("b", Schema.string()), record(1, number), record("c", text)]
    batches = pack(rows)
    assert [b.records.column("value").to_pylist() for b in batches] == [["a", "b"], [1], ["c"]]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 99)), max_size=20))
def test_order_is_kept(rows: list[tuple[bool, int]]) -> None:
    batches = pack(
        [record(n if b else str(n), Schema.int64() if b else Schema.string()) for b, n in rows]
    )
    values = [value for b in batches for value in b.records.column("value").to_pylist()]
    assert values == [n if b else str(n) for b, n in rows]


def test_offsets_are_the_last_of_each_source_partition() -> None:
    (batch,) = pack([record("x", at=("a", 1)), record("x", at=("b", 7)), record("x", at=("a", 2))])
    assert list(batch.offsets) == [
        ({"file": "a"}, {"position": 2}),
        ({"file": "b"}, {"position": 7}),
    ]


def test_schemaless_values_become_json() -> None:
    (batch,) = pack([record({"a": [1, None, "ü"]}), record(None), record("x"), record(1.5)])
    column = batch.records.column("value")
    assert is_schemaless(batch.records.schema.field("value"))
    assert column.type == SCHEMALESS.type
    assert column.to_pylist() == ['{"a":[1,null,"ü"]}', None, '"x"', "1.5"]


def test_a_schemaless_value_that_is_no_json() -> None:
    with pytest.raises(RecordError, match=r'"value".*not JSON serializable.*row 1') as caught:
        pack([record(1), record(object())])
    assert caught.value.row == 1


def test_logical_and_nested_values() -> None:
    schema = Schema.struct(
        {
            "d": Schema.decimal(2),
            "on": Schema.date(),
            "at": Schema.timestamp(),
            "m": Schema.map(Schema.string(), Schema.array(Schema.int8())),
        }
    )
    now = dt.datetime(2024, 5, 6, 7, 8, 9, tzinfo=dt.UTC)
    value = {"d": Decimal("1.50"), "on": now.date(), "at": now, "m": {"a": [1, 2]}}
    (batch,) = pack([record(value, schema), record(None, schema)])
    batch.records.validate(full=True)
    column = batch.records.column("value")
    assert column.to_pylist(maps_as_pydicts="strict") == [value, None]


def test_a_null_where_a_default_stands_ready_is_left_to_the_converter() -> None:
    (batch,) = pack([record({}, Schema.struct({"a": Schema.int32(default=7)}))])
    assert batch.records.column("value").to_pylist() == [{"a": None}]


@pytest.mark.parametrize(
    ("schema", "good", "bad", "message"),
    [
        (Schema.int32(), 1, "x", 'Invalid value for field "value": str does not fit INT32'),
        (Schema.int32(), 1, True, 'Invalid value for field "value": bool does not fit INT32'),
        (Schema.int32(), 1, 1.5, 'Invalid value for field "value": float does not fit INT32'),
        (Schema.int8(), 1, 128, 'Invalid value for field "value": '),
        (Schema.int64(), 1, 2**70, 'Invalid value for field "value": '),
        (Schema.string(), "a", b"a", 'Invalid value for field "value": bytes does not fit STRING'),
        (Schema.bytes(), b"a", "a", 'Invalid value for field "value": str does not fit BYTES'),
        (Schema.string(), "a", "\ud800", 'Invalid value for field "value": '),
        (Schema.decimal(2), Decimal(1), Decimal("1.234"), 'Invalid value for field "value": '),
        (
            PERSON,
            {"id": 1},
            {"name": "x"},
            'Invalid value: null used for required field: "value.id", schema type: INT32',
        ),
        (
            PERSON,
            {"id": 1},
            {"id": 1, "nam": "x"},
            'Invalid value for field "value": nam is not a field',
        ),
        (
            Schema.array(PERSON),
            [],
            [{"id": "x"}],
            'Invalid value for field "value[].id": str does not fit INT32',
        ),
        (
            Schema.map(Schema.string(), Schema.int32()),
            {},
            {"a": None},
            'Invalid value: null used for required field: "value[]", schema type: INT32',
        ),
    ],
)
def test_a_misfit_is_named(schema: Schema, good: Any, bad: Any, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        pack([record("first run"), record(None, schema), record(good, schema), record(bad, schema)])
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith("(row 3)")
    assert caught.value.row == 3


def test_a_misfit_key_is_named() -> None:
    with pytest.raises(RecordError, match='"key"'):
        pack([record("v", key=1, key_schema=Schema.string())])
