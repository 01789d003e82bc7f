"""What the differential test leaves out: speed, pickling, plain Arrow types, empty batches."""

from __future__ import annotations

import pickle
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

from penstock.columnar.transforms import sided
from penstock.engine.pipeline.parts import Part
from penstock.engine.pipeline.predicated import Predicated
from penstock.engine.pipeline.stage_error import StageError
from penstock.runtime.plugins import Plugins
from penstock.sdk.batches import HEADERS, record_batch
from penstock.sdk.schema import SCHEMALESS, Schema, from_field, to_field
from penstock.sdk.transforms import Transform

CONFIGS = {
    "Cast$Value": {"spec": "n:string,text:boolean"},
    "DropHeaders": {"headers": "a"},
    "ExtractField$Value": {"field": "n"},
    "Filter": {},
    "Flatten$Value": {},
    "HeaderFrom$Value": {"fields": "n", "headers": "h", "operation": "move"},
    "HoistField$Value": {"field": "f"},
    "InsertField$Value": {"topic.field": "t", "timestamp.field": "ts"},
    "InsertHeader": {"header": "h", "value.literal": "5"},
    "MaskField$Value": {"fields": "n,text"},
    "ReplaceField$Value": {"exclude": "n"},
    "SetSchemaMetadata$Value": {"schema.name": "x"},
    "TimestampConverter$Value": {"field": "n", "target.type": "string", "format": "yyyy-MM-dd"},
    "TimestampRouter": {},
    "ValueToKey": {"fields": "n"},
}
ROW = Schema.struct({"n": Schema.int64(), "text": Schema.string(optional=True)})


def made(name: str, config: dict[str, str] | None = None) -> Transform:
    plugin = Plugins().transform(f"org.apache.kafka.connect.transforms.{name}")
    assert plugin is not None
    transform: Transform = plugin.cls()
    transform.configure(CONFIGS[name] if config is None else config)
    return transform


def batch(rows: int, field: pa.Field | None = None) -> pa.RecordBatch:
    field = field or to_field(ROW, "value")
    values = pa.array([{"n": n, "text": "true"} for n in range(rows)], field.type)
    return record_batch("t", values, value_field=field, timestamp=pa.array(np.arange(rows)))


@pytest.mark.parametrize("name", CONFIGS)
def test_structs_never_pass_through_python_objects(name: str) -> None:
    """Only what has no schema is parsed row by row."""
    transform, given = made(name), batch(1000)
    with mock.patch.object(sided, "changed_rows", side_effect=AssertionError):
        assert transform.apply(given).num_rows in {0, 1000}


@pytest.mark.parametrize("name", CONFIGS)
def test_is_picklable_once_configured(name: str) -> None:
    copy = pickle.loads(pickle.dumps(made(name)))  # noqa: S301 (pickled just above)
    assert copy.apply(batch(3)).equals(made(name).apply(batch(3)))


@pytest.mark.parametrize("name", CONFIGS)
def test_an_empty_batch_stays_empty(name: str) -> None:
    assert made(name).apply(batch(3).slice(0, 0)).num_rows == 0


@pytest.mark.parametrize("name", sorted(set(CONFIGS) - {"Filter"}))
def test_a_slice_is_like_a_batch_of_its_own(name: str) -> None:
    whole = made(name).apply(batch(6)).slice(2, 3)
    assert made(name).apply(batch(6).slice(2, 3)).equals(whole)


def test_other_arrow_types_keep_theirs() -> None:
    kind = pa.struct([pa.field("n", pa.uint32()), pa.field("text", pa.large_string())])
    changed = made("ReplaceField$Value", {"renames": "n:m"}).apply(
        batch(2, pa.field("value", kind))
    )
    found = changed.schema.field("value").type
    assert [(f.name, f.type) for f in found] == [("m", pa.uint32()), ("text", pa.large_string())]


def test_nulls_without_a_schema_are_hoisted_into_maps() -> None:
    field = to_field(ROW, "value")
    values = pa.array([{"n": 1, "text": None}, None, {"n": 2, "text": None}], field.type)
    given = Part.whole(record_batch("t", values, value_field=field))
    structs, maps = Predicated(made("HoistField$Value")).apply(given)
    assert (structs.places.tolist(), maps.places.tolist()) == ([0, 2], [1])
    assert from_field(maps.batch.schema.field("value")) is None
    assert maps.batch.column("value").to_pylist() == ['{"f":null}']


def test_an_error_names_the_row_among_those_set_apart() -> None:
    texts = pa.array(['{"n":1}', None, "5", '{"n":2}'], SCHEMALESS.type)
    given = Part.whole(record_batch("t", texts, value_field=SCHEMALESS))
    with pytest.raises(StageError, match="Only Map objects supported") as caught:
        Predicated(made("ReplaceField$Value")).apply(given)
    assert caught.value.row == 2


def test_headers_that_are_dropped_leave_none() -> None:
    some = pa.array([[{"key": "a", "value": b"1"}], None, [{"key": "b", "value": None}]], HEADERS)
    left = made("DropHeaders").apply(record_batch("t", pa.array([1, 2, 3]), headers=some))
    assert left.column("headers").to_pylist() == [None, None, [{"key": "b", "value": None}]]


def cast(values: list[Any], target: str) -> list[Any]:
    given = record_batch("t", pa.array(values))
    found: list[Any] = made("Cast$Value", {"spec": target}).apply(given).column("value").to_pylist()
    return found


@pytest.mark.parametrize(
    ("values", "target", "expected"),
    [
        ([300, -129], "int8", [44, 127]),
        ([1e20, float("nan"), -1.9], "int32", [2**31 - 1, 0, -1]),
        ([0.5, 1.0], "boolean", [False, True]),
        ([1e7, 0.001, 1e-4, 3.0], "string", ["1.0E7", "0.001", "1.0E-4", "3.0"]),
        (["+7", "007"], "int16", [7, 7]),
    ],
)
def test_casts_as_java_does(values: list[Any], target: str, expected: list[Any]) -> None:
    assert cast(values, target) == expected
