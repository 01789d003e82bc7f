"""From a connector's records to bytes, and back."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.columnar.regex_router import RegexRouter
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.stage_error import StageError
from penstock.sdk.batches import record_batch
from penstock.sdk.config import ConfigDef
from penstock.sdk.errors import RecordError
from penstock.sdk.transforms import Transform


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


def raw(values: list[bytes | None], keys: list[bytes | None] | None = None) -> pa.RecordBatch:
    """Records of one topic-partition, as a sink lease reads them."""
    rows = len(values)
    return record_batch(
        "t",
        pa.array(values, pa.binary()),
        key=pa.array(keys or [None] * rows, pa.binary()),
        partition=pa.array([0] * rows, pa.int32()),
        offset=pa.array(range(rows), pa.int64()),
        timestamp=pa.array([5] * rows, pa.int64()),
    )


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


class Refuse(Transform):
    """Does not take records of one value."""

    connect_class = ""
    config_def = ConfigDef()

    def __init__(self, value: str) -> None:
        self.value = value

    def configure(self, config: Mapping[str, str]) -> None:
        """Nothing to configure."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for row, value in enumerate(batch.column("value").to_pylist()):
            if value == self.value:
                raise RecordError(f"{value} is refused", row=row)
        return batch


def test_bad_records_of_a_source_are_left_out_if_that_is_tolerated() -> None:
    """Each is told with the batch that it is a row of, whatever was dropped before."""
    pipeline = Pipeline(strings(is_key=True), strings(is_key=False), [KeepEven(), Refuse("e")])
    told: list[tuple[str, str, str]] = []

    def bad(batch: pa.RecordBatch, error: StageError) -> None:
        told.append((batch.column("value")[error.row].as_py(), error.stage, str(error)))

    encoded = pipeline.encode(record_batch("t", pa.array(list("abcdefg"))), bad)
    assert encoded.value.to_pylist() == [b"a", b"c", b"g"]
    assert encoded.batch.num_rows == len(encoded.key) == 3
    assert told == [("e", "TRANSFORMATION", "e is refused")]


def test_without_tolerance_the_stage_is_told() -> None:
    pipeline = Pipeline(strings(is_key=True), strings(is_key=False), [Refuse("b")])
    with pytest.raises(StageError, match="b is refused") as caught:
        pipeline.encode(record_batch("t", pa.array(["a", "b"])))
    assert (caught.value.row, caught.value.stage) == (1, "TRANSFORMATION")
    assert caught.value.step.endswith(".Refuse")


def test_a_transform_of_a_sink_names_the_row_of_what_was_read() -> None:
    """Though it saw only a run of equal schemas, without what another has dropped."""
    pipeline = Pipeline(strings(is_key=True), json_values(schemas=True), [KeepEven(), Refuse("c")])
    values = [envelope("int32", 1), *(envelope("string", letter) for letter in "abc")]
    with pytest.raises(StageError) as caught:
        list(pipeline.decode(raw(list(values))))
    assert caught.value.row == 3


def test_nothing_is_asked_of_transforms_when_no_record_is_left() -> None:
    class DropAll(KeepEven):
        def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
            assert batch.num_rows
            return batch.slice(0, 0)

    pipeline = Pipeline(strings(is_key=True), strings(is_key=False), [DropAll(), DropAll()])
    assert pipeline.encode(record_batch("t", pa.array(["a"]))).batch.num_rows == 0
    assert [b.num_rows for b in pipeline.decode(raw([b"a"]))] == [0]
