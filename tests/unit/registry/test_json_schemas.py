"""Connect's schemas and values in JSON Schema, as Confluent's JsonSchemaConverter has them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa
import pytest

from penstock.columnar.json_records import payload_column
from penstock.columnar.json_text import JsonOptions, Misfit, texts
from penstock.registry.json_schema_reading import JsonSchemaReader
from penstock.registry.json_schema_writing import json_schema
from penstock.sdk.schema import Schema, to_type

NOON = dt.datetime(2026, 11, 18, 12, tzinfo=dt.UTC)
VALUES: list[tuple[Schema, Any]] = [
    (Schema.int8(), -5),
    (Schema.int16(default=1), 300),
    (Schema.int32(), -70_000),
    (Schema.int64(), 2**40),
    (Schema.float32(), 1.5),
    (Schema.float64(doc="why"), 0.1),
    (Schema.boolean(), True),
    (Schema.string(default="x"), "ü"),
    (Schema.bytes(), b"\xff\0"),
    (Schema.decimal(2), Decimal("-12.30")),
    (Schema.date(), dt.date(1969, 12, 31)),
    (Schema.time(), dt.time(12, 30, 15, 7000)),
    (Schema.timestamp(default=NOON), NOON),
    (Schema.array(Schema.int16(optional=True)), [1, None]),
    (Schema.map(Schema.string(), Schema.date(optional=True)), [("a", dt.date(2026, 1, 1))]),
    (Schema.map(Schema.int32(), Schema.string()), [(1, "a"), (2, "b")]),
    (
        Schema.struct(
            {"z": Schema.timestamp(optional=True), "a": Schema.int64()}, name="acme.When", version=3
        ),
        {"z": NOON, "a": 1},
    ),
]


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize(("schema", "value"), VALUES, ids=lambda each: getattr(each, "name", ""))
def test_what_is_written_is_read_again_with_its_schema(
    schema: Schema, value: Any, optional: bool, numeric: bool
) -> None:
    options = JsonOptions(numeric_decimals=numeric, entry_objects=True)
    schema = replace(schema, optional=optional)
    text = orjson.dumps(json_schema(schema, options), option=orjson.OPT_SORT_KEYS)
    assert JsonSchemaReader(orjson.loads(text), options).whole() == schema
    written = texts(pa.array([value, None], to_type(schema)), schema, options).to_pylist()
    assert payload_column(schema, written, options).to_pylist() == [value, None]


def test_the_entries_of_a_map_without_names_are_objects() -> None:
    schema = Schema.map(Schema.int32(), Schema.string())
    array = pa.array([[(1, "a")]], to_type(schema))
    [text] = texts(array, schema, JsonOptions(entry_objects=True)).to_pylist()
    assert text == b'[{"key":1,"value":"a"}]'


def test_a_schema_is_that_of_confluents_converter() -> None:
    schema = Schema.struct({"id": Schema.int32(), "note": Schema.string(optional=True)}, name="A")
    assert json_schema(schema, JsonOptions()) == {
        "type": "object",
        "title": "A",
        "properties": {
            "id": {"type": "integer", "connect.type": "int32", "connect.index": 0},
            "note": {"oneOf": [{"type": "null"}, {"type": "string"}], "connect.index": 1},
        },
        "required": ["id"],
    }


def read(json: Any) -> Schema | None:
    return JsonSchemaReader(json, JsonOptions()).whole()


def test_schemas_of_other_writers() -> None:
    assert read({}) is None
    assert read({"type": ["null", "string"]}) == Schema.string(optional=True)
    assert read({"enum": ["a", "b"]}) == Schema.string()
    assert read({"type": "object", "additionalProperties": {"type": "integer"}}) == Schema.map(
        Schema.string(), Schema.int64()
    )
    point = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    referring = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/p"}, "b": {"$ref": "#/definitions/p"}},
        "definitions": {"p": point},
    }
    found = Schema.struct({"x": Schema.float64()}, optional=True)
    assert read(referring) == Schema.struct({"a": found, "b": found})


@pytest.mark.parametrize(
    ("json", "why"),
    [
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "more than one type"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}}, "contains itself"),
        ({"$ref": "#/definitions/none"}, "leads nowhere"),
        ({"$ref": "http://elsewhere/a.json"}, "another document"),
        ({"type": "array"}, "not a JSON Schema with a type"),
        ({"type": "whatever"}, "has no Connect schema"),
    ],
)
def test_schemas_that_connect_has_no_words_for(json: Any, why: str) -> None:
    with pytest.raises(Misfit, match=why):
        read(json)
