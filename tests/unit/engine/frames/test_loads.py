"""What travels through Spark's plan, and comes out as it went in."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from penstock.columnar.transforms.spark_sql import SparkSql
from penstock.engine.frames.fitting import JSON, TYPED
from penstock.engine.frames.loaded import VALUE, Arriving, Loaded
from penstock.engine.frames.loads import Load, failed, unpacked
from penstock.engine.frames.problems import PROBLEM, Problem, Problems
from penstock.engine.frames.seen_columns import HEADERS, LOAD, ROW, Seen
from penstock.engine.pipeline.stage_error import StageError
from penstock.sdk.batches import record_batch
from penstock.sdk.errors import FatalError, RecordError, RetriableError
from penstock.sdk.schema import SCHEMALESS, Schema, to_field

PERSON = pa.struct([("id", pa.int64()), ("name", pa.string())])


def seen(typed: pa.DataType = PERSON, *, values: bool = True) -> Seen:
    fields = [
        (ROW, pa.int32()),
        (LOAD, pa.binary()),
        (JSON, pa.string()),
        (TYPED, typed),
        ("key", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        (HEADERS, pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
    return Seen(pa.schema(fields), "id BIGINT, name STRING", values)


def people(*rows: dict[str, Any] | None) -> pa.RecordBatch:
    schema = Schema.struct({"name": Schema.string(), "id": Schema.int32(), "more": Schema.int8()})
    field = to_field(schema, "value")
    key = pa.array([b"k"] * len(rows), pa.binary())
    return record_batch("t", pa.array(rows, field.type), value_field=field, key=key)


def texts(*rows: str | None) -> pa.RecordBatch:
    storage = pa.array(rows, pa.string())
    value = pa.ExtensionArray.from_storage(SCHEMALESS.type, storage)
    return record_batch("t", value, value_field=SCHEMALESS)


def arrived(rows: pa.RecordBatch, keep: list[int], problems: dict[int, str]) -> Loaded:
    """What the last stage makes of rows of which Spark has kept some, in two pieces."""
    texts = [problems.get(n) for n in range(rows.num_rows - 1)] + [None]
    values = [{"n": n} for n in range(rows.num_rows)]
    made = pa.RecordBatch.from_pydict(
        {
            ROW: rows.column(ROW),
            LOAD: rows.column(LOAD),
            PROBLEM: pa.array(texts, pa.string()),
            VALUE: pa.array(values, pa.struct([("n", pa.int64())])),
        }
    ).take([*keep, rows.num_rows - 1])
    arriving = Arriving()
    found = [x for first in range(made.num_rows) for x in arriving.loads(made.slice(first, 1))]
    assert len(found) == 1
    return found[0]


def test_values_are_seen_by_their_names() -> None:
    load = Load([people({"name": "a", "id": 1, "more": 2}, None)])
    rows = seen().rows(load)
    assert rows.column(TYPED).to_pylist() == [{"id": 1, "name": "a"}, None, None]
    assert rows.column(ROW).to_pylist() == [0, 1, None]
    assert rows.column("key").to_pylist() == ["k", "k", None]


def test_text_without_a_schema_is_left_to_spark() -> None:
    rows = seen().rows(Load([texts('{"id": 1}', None, "null")]))
    assert rows.column(JSON).to_pylist() == ['{"id": 1}', None, None, None]
    assert rows.column(TYPED).null_count == 4


def test_text_is_text() -> None:
    rows = seen(pa.string()).rows(Load([texts('"a"', "[1]", None)]))
    assert rows.column(TYPED).to_pylist() == ["a", "[1]", None, None]


def test_groups_keep_their_schemas_and_filtered_rows_move_offsets() -> None:
    offsets = [({"file": "f"}, {"position": 7})]
    groups = [people({"name": "a", "id": 1, "more": 2}), texts('{"id": 2}', '{"id": 3}')]
    rows = seen().rows(Load(groups, offsets=offsets))
    loaded = arrived(rows, [0, 2], {})
    parts = list(loaded.good())
    assert [list(part.places) for part in parts] == [[0], [2]]
    assert [part.batch.column("value").to_pylist() for part in parts] == [[{"n": 0}], [{"n": 2}]]
    assert parts[0].batch.column("key").to_pylist() == [b"k"]
    assert loaded.load.offsets == offsets
    assert arrived(rows, [], {}).load.offsets == offsets


def test_null_stays_null_where_spark_knows_that_fields_never_are() -> None:
    never = pa.struct(
        [pa.field("n", pa.struct([pa.field("m", pa.string(), nullable=False)]), False)]
    )
    rows = seen().rows(Load([texts(None, '{"id": 2}')]))
    inner = pa.StructArray.from_arrays([pa.array([None, "x"])], fields=list(never[0].type))
    values = pa.StructArray.from_arrays([inner], fields=list(never), mask=pa.array([True, False]))
    made = pa.RecordBatch.from_arrays(
        [rows.column(ROW)[:2], pa.nulls(2, pa.string()), values], [ROW, PROBLEM, VALUE]
    )
    [part] = Loaded(unpacked(rows.column(LOAD)[2].as_py()), made).good()
    assert part.batch.column("value").to_pylist() == [None, {"n": {"m": "x"}}]


def test_a_row_with_a_problem_is_as_it_was_and_raises() -> None:
    rows = seen().rows(Load([texts('{"id": 1}', '{"id": 2}')]))
    loaded = arrived(rows, [0, 1], {1: "it is wrong"})
    [good] = loaded.good()
    [bad] = loaded.bad()
    assert list(good.places) == [0]
    assert bad.batch.column("value").storage.to_pylist() == ['{"id": 2}']
    with pytest.raises(StageError, match="it is wrong"):
        Problems().apply(bad.batch)
    assert PROBLEM not in Problems().apply(bad.batch.slice(0, 0)).schema.names
    assert Problems().apply(good.batch) is good.batch


def test_values_that_do_not_fit_are_refused_one_by_one() -> None:
    field = to_field(Schema.string(), "value")
    batch = record_batch("t", pa.array(["1", "x", "2"]), value_field=field)
    rows = seen(pa.int64()).rows(Load([batch]))
    assert rows.column(TYPED).to_pylist() == [1, 2, None]
    [(record, problem)] = unpacked(rows.column(LOAD)[2].as_py()).refused
    assert record.column("value").to_pylist() == ["x"]
    assert "does not fit the schema of the transform" in problem.text


def test_values_that_nobody_needs_do_not_travel() -> None:
    rows = seen(values=False).rows(Load([texts('{"id": 1}')]))
    [group] = unpacked(rows.column(LOAD)[1].as_py()).groups
    assert group.column("value").null_count == 1


def test_a_problem_keeps_the_step_that_raised_it() -> None:
    first = StageError(RecordError("no"), "VALUE_CONVERTER", SparkSql, 3)
    again = Problem.read(Problem.of(first).written).error(5)
    assert (again.row, again.stage, again.step, str(again)) == (5, first.stage, first.step, "no")


def test_errors_travel_by_their_kinds() -> None:
    rows = seen().rows(failed(RetriableError("later", retry_after=3.0), ()))
    failure = unpacked(rows.column(LOAD)[0].as_py()).failure
    assert isinstance(failure, RetriableError)
    assert failure.retry_after == 3.0
    assert isinstance(failed(ValueError("secret-x"), ("secret-x",)).failure, FatalError)
    assert "secret-x" not in str(failed(ValueError("secret-x"), ("secret-x",)).failure)
