"""From a connector's records to bytes, and from what Spark reads to a sink's batches."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.columnar.regex_router import RegexRouter
from penstock.columnar.transform import Transform
from penstock.engine.pipeline import Pipeline
from penstock.engine.raw_batches import by_partition
from penstock.sdk.batches import HEADERS, record_batch
from penstock.sdk.config import ConfigDef
from penstock.sdk.errors import RecordError


def strings(is_key: bool) -> StringConverter:
    converter = StringConverter()
    converter.configure({}, is_key=is_key)
    return converter


def json_values(schemas: bool) -> JsonConverter:
    converter = JsonConverter()
    converter.configure({"schemas.enable": str(schemas).lower()}, is_key=False)
    return converter


def router() -> RegexRouter:
    transform = RegexRouter()
    transform.configure({"regex": "(.*)", "replacement": "new-$1"})
    return transform


class KeepEven(Transform):
    """Drops the records at odd offsets, or rows."""

    connect_class = ""
    config_def = ConfigDef()

    def configure(self, config: Mapping[str, str]) -> None:
        """Nothing to configure."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.take(pa.array(range(0, batch.num_rows, 2)))


STRINGS = Pipeline(strings(is_key=True), strings(is_key=False))


def spark_batch(
    rows: list[tuple[str, int, int]], headers: list[list[dict[str, object]] | None] | None = None
) -> pa.RecordBatch:
    """What Spark hands over for (topic, partition, offset) rows."""
    columns = {
        "key": pa.array([f"k{offset}".encode() for _, _, offset in rows], pa.binary()),
        "value": pa.array([f"v{offset}".encode() for _, _, offset in rows], pa.binary()),
        "topic": pa.array([topic for topic, _, _ in rows], pa.string()),
        "partition": pa.array([partition for _, partition, _ in rows], pa.int32()),
        "offset": pa.array([offset for _, _, offset in rows], pa.int64()),
        "timestamp": pa.array([1000 + offset for _, _, offset in rows], pa.int64()),
    }
    if headers is not None:
        columns["headers"] = pa.array(headers, HEADERS)
    return pa.RecordBatch.from_pydict(columns)


def raw(values: list[bytes | None], keys: list[bytes | None] | None = None) -> pa.RecordBatch:
    """One topic-partition, as ``by_partition`` gives it."""
    rows = len(values)
    return next(
        by_partition(
            pa.RecordBatch.from_pydict(
                {
                    "key": pa.array(keys or [None] * rows, pa.binary()),
                    "value": pa.array(values, pa.binary()),
                    "topic": pa.array(["t"] * rows, pa.string()),
                    "partition": pa.array([0] * rows, pa.int32()),
                    "offset": pa.array(range(rows), pa.int64()),
                    "timestamp": pa.array([5] * rows, pa.int64()),
                }
            )
        )
    )


def test_a_batch_is_cut_into_runs_of_one_partition() -> None:
    rows = [("a", 0, 1), ("a", 0, 2), ("a", 1, 7), ("b", 1, 3), ("a", 0, 4)]
    parts = list(by_partition(spark_batch(rows)))
    assert [part.column("offset").to_pylist() for part in parts] == [[1, 2], [7], [3], [4]]
    assert parts[0].column("value").to_pylist() == [b"v1", b"v2"]
    assert parts[3].column("timestamp").to_pylist() == [1004]


def test_no_rows_are_no_runs() -> None:
    assert list(by_partition(spark_batch([]))) == []


def test_headers_are_null_where_they_were_not_read() -> None:
    [part] = by_partition(spark_batch([("a", 0, 1)]))
    assert part.schema.field("headers").type == HEADERS
    assert part.column("headers").to_pylist() == [None]


def test_headers_are_kept_where_they_were_read() -> None:
    given_headers: list[list[dict[str, object]] | None] = [[{"key": "h", "value": b"\xff"}], None]
    [part] = by_partition(spark_batch([("a", 0, 1), ("a", 0, 2)], given_headers))
    assert part.column("headers").to_pylist() == given_headers


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 99))))
def test_runs_hold_every_row_once_in_order_and_no_two_partitions(
    rows: list[tuple[str, int, int]],
) -> None:
    parts = list(by_partition(spark_batch(rows)))
    seen = []
    for part in parts:
        names = ("topic", "partition", "offset")
        columns = [part.column(name).to_pylist() for name in names]
        found = list(zip(*columns, strict=True))
        assert len({(topic, partition) for topic, partition, _ in found}) == 1
        seen += found
    assert seen == rows
    places = [(p.column("topic")[0].as_py(), p.column("partition")[0].as_py()) for p in parts]
    assert all(here != following for here, following in pairwise(places))


def test_encoding_transforms_first() -> None:
    pipeline = Pipeline(strings(is_key=True), strings(is_key=False), [router(), KeepEven()])
    encoded = pipeline.encode(record_batch("t", pa.array(["a", "b", None]), key=pa.array("xyz")))
    assert encoded.value.to_pylist() == [b"a", None]
    assert encoded.key.to_pylist() == [b"x", b"z"]
    assert encoded.batch.column("topic").to_pylist() == ["new-t", "new-t"]


def test_decoding_is_the_other_direction() -> None:
    [batch] = STRINGS.decode(raw([b"a", None, "ü".encode()], [b"k", None, b""]))
    assert batch.column("value").to_pylist() == ["a", None, "ü"]
    assert batch.column("key").to_pylist() == ["k", None, ""]
    assert batch.column("offset").to_pylist() == [0, 1, 2]
    assert batch.column("timestamp").to_pylist() == [5, 5, 5]
    assert batch.column("topic").to_pylist() == ["t", "t", "t"]


def test_no_records_are_no_batches() -> None:
    """As when the only record of a batch went to the dead letters."""
    assert list(STRINGS.decode(raw([b"a"]).slice(0, 0))) == []


def test_a_dropped_row_takes_its_offset_along() -> None:
    pipeline = Pipeline(strings(is_key=True), strings(is_key=False), [KeepEven()])
    [batch] = pipeline.decode(raw([b"a", b"b", b"c"]))
    assert batch.column("value").to_pylist() == ["a", "c"]
    assert batch.column("offset").to_pylist() == [0, 2]


def envelope(kind: str, payload: object) -> bytes:
    schema = {"type": kind, "optional": False}
    return json.dumps({"schema": schema, "payload": payload}).encode()


def test_mixed_schemas_come_as_runs_of_one_schema_each() -> None:
    pipeline = Pipeline(strings(is_key=True), json_values(schemas=True))
    values = [
        envelope("int64", 1),
        envelope("int64", 2),
        envelope("string", "x"),
        envelope("int64", 3),
    ]
    batches = list(pipeline.decode(raw(list(values), [b"a", b"b", b"c", b"d"])))
    assert [b.column("value").to_pylist() for b in batches] == [[1, 2], ["x"], [3]]
    assert [b.column("key").to_pylist() for b in batches] == [["a", "b"], ["c"], ["d"]]
    assert [b.column("offset").to_pylist() for b in batches] == [[0, 1], [2], [3]]


def test_runs_of_keys_and_of_values_cut_each_other() -> None:
    key = JsonConverter()
    key.configure({"schemas.enable": "true"}, is_key=True)
    pipeline = Pipeline(key, json_values(schemas=True))
    keys = [envelope("string", "a"), envelope("int32", 1), envelope("int32", 2)]
    values = [envelope("int64", 1), envelope("int64", 2), envelope("boolean", True)]
    batches = list(pipeline.decode(raw(list(values), list(keys))))
    shown = [(b.column("key").to_pylist(), b.column("value").to_pylist()) for b in batches]
    assert shown == [(["a"], [1]), ([1], [2]), ([2], [True])]


def test_a_row_that_cannot_be_decoded_is_named() -> None:
    pipeline = Pipeline(strings(is_key=True), json_values(schemas=False))
    with pytest.raises(RecordError) as found:
        list(pipeline.decode(raw([b"1", b"{broken", b"3"])))
    assert found.value.row == 1


def test_a_pipeline_travels_to_other_processes() -> None:
    pipeline = Pipeline(strings(is_key=True), json_values(schemas=True), [router()])
    copy = pickle.loads(pickle.dumps(pipeline))  # noqa: S301 (made on this line)
    [batch] = copy.decode(raw([envelope("int64", 1)]))
    assert batch.column("topic").to_pylist() == ["new-t"]
