"""Values as documents, keys as ids, schemas as mappings."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from penstock.plugins.search.document_ids import ids_of
from penstock.plugins.search.documents import json_texts
from penstock.plugins.search.mappings import mapping_of
from penstock.sdk import SCHEMALESS, Schema
from penstock.sdk.packing import column
from penstock.sdk.schema import DATE, TIME, TIMESTAMP

NOON = dt.datetime(2024, 3, 1, 12, tzinfo=dt.UTC)
DAY = Schema.int32(name=DATE)
CLOCK = Schema.int32(name=TIME)
MOMENT = Schema.int64(name=TIMESTAMP)
EVERYTHING = Schema.struct(
    {
        "i": Schema.int64(),
        "f": Schema.float64(),
        "b": Schema.boolean(),
        "s": Schema.string(optional=True),
        "raw": Schema.bytes(),
        "d": Schema.decimal(2),
        "at": MOMENT,
        "day": DAY,
        "clock": CLOCK,
        "list": Schema.array(Schema.int32(optional=True)),
        "days": Schema.array(DAY),
        "map": Schema.map(Schema.string(), Schema.int32()),
        "pairs": Schema.map(Schema.int32(), Schema.string()),
        "inner": Schema.struct({"x": Schema.int32()}, optional=True),
    }
)


def _value(**changed: Any) -> dict[str, Any]:
    return {
        "i": -(2**63),
        "f": 1.5,
        "b": True,
        "s": 'ü "quoted"\n\\',
        "raw": b"\x00\xff",
        "d": Decimal("12.30"),
        "at": NOON,
        "day": NOON.date(),
        "clock": dt.time(1, 0, 0, 5000),
        "list": [1, None],
        "days": [NOON.date()],
        "map": {"a": 1},
        "pairs": {7: "x"},
        "inner": {"x": 1},
        **changed,
    }


def _texts(schema: Schema, values: list[Any], **options: bool) -> list[str]:
    array, _ = column("value", schema, values)
    found: list[str] = json_texts(array, **options).to_pylist()
    return found


def test_every_type_becomes_json() -> None:
    whole, other = map(json.loads, _texts(EVERYTHING, [_value(), _value(s=None, inner=None)]))
    assert whole == {
        "i": -(2**63),
        "f": 1.5,
        "b": True,
        "s": 'ü "quoted"\n\\',
        "raw": "AP8=",
        "d": 12.3,
        "at": 1709294400000,
        "day": "2024-03-01",
        "clock": 3600005,
        "list": [1, None],
        "days": ["2024-03-01"],
        "map": {"a": 1},
        "pairs": [{"key": 7, "value": "x"}],
        "inner": {"x": 1},
    }
    assert other == {**whole, "s": None, "inner": None}


def test_maps_as_lists_and_numbers_that_are_none() -> None:
    schema = Schema.struct({"m": Schema.map(Schema.string(), Schema.float64())})
    (text,) = _texts(schema, [{"m": {"a": float("nan")}}], compact_maps=False)
    assert json.loads(text) == {"m": [{"key": "a", "value": "nan"}]}


def test_json_is_kept_on_one_line() -> None:
    array = pa.array(['{"a":\n 1}', None], pa.string()).cast(SCHEMALESS.type)
    assert json_texts(array).to_pylist() == ['{"a":  1}', "null"]


def test_keys_as_ids() -> None:
    numbers, _ = ids_of(pa.array([1, None], pa.int64()))
    assert numbers.to_pylist() == ["1", None]
    texts, wrong = ids_of(pa.array(["a", "", "ü" * 257, "x" * 512]))
    assert texts.to_pylist() == ["a", None, None, "x" * 512]
    assert {row: why.split(",")[0] for row, why in wrong.items()} == {
        1: "The record's key is empty",
        2: "The record's key is longer than the 512 bytes of a document's id.",
    }
    keys = pa.array(['"a"', "12", "true", '{"a": 1}', None], pa.string()).cast(SCHEMALESS.type)
    plain, wrong = ids_of(keys)
    assert plain.to_pylist() == ["a", "12", None, None, None]
    assert list(wrong) == [2, 3]
    _, wrong = ids_of(pa.array([b"a", None], pa.binary()))
    assert "StringConverter" in wrong[0]
    assert 1 not in wrong


def test_a_mapping_from_a_schema() -> None:
    made = mapping_of(EVERYTHING)["properties"]
    assert {name: field.get("type") for name, field in made.items()} == {
        "i": "long",
        "f": "double",
        "b": "boolean",
        "s": "text",
        "raw": "binary",
        "d": "double",
        "at": "date",
        "day": "date",
        "clock": "date",
        "list": "integer",
        "days": "date",
        "map": "object",
        "pairs": None,
        "inner": None,
    }
    assert made["s"]["fields"] == {"keyword": {"type": "keyword", "ignore_above": 256}}
    assert made["pairs"]["properties"]["key"] == {"type": "integer"}
    assert made["inner"] == {"properties": {"x": {"type": "integer"}}}


@pytest.mark.parametrize(("default", "more"), [(3, {"null_value": 3}), (None, {})])
def test_a_default_in_a_mapping(default: int | None, more: dict[str, int]) -> None:
    assert mapping_of(Schema.int8(default=default)) == {"type": "byte", **more}
