"""A table of Delta's as a source, without Spark: what is configured, altered, planned and read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest

from penstock.plugins.spark.delta_log import Version, version_of
from penstock.plugins.spark.delta_offsets import DeltaOffset
from penstock.plugins.spark.delta_planner import MOST_FILES, Found
from penstock.plugins.spark.delta_reading import FILE, DeltaReading
from penstock.plugins.spark.row_records import RowRecords
from penstock.plugins.spark.source import SparkSourceConnector
from penstock.sdk.errors import FatalError, OffsetError

CONFIG = {"connector.class": "SparkSource", "format": "delta", "topic": "t", "path": "/data/people"}
PLACE = {"table": "/data/people"}


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"path": ""}, "path"),
        ({"path": "/data/*"}, "path"),
        ({"schema": "id BIGINT"}, "schema"),
        ({"format.options.versionAsOf": "3"}, "format.options.versionAsOf"),
        ({"select": "reflect('a')"}, "select"),
    ],
)
def test_what_a_configuration_may_not_say(config: dict[str, str], key: str) -> None:
    found = SparkSourceConnector().validate({**CONFIG, **config})
    assert [each for each, _ in found] == [key]


def test_what_it_may_say_and_that_one_task_reads() -> None:
    source = SparkSourceConnector()
    assert not source.validate({**CONFIG, "table.changes": "Reread"})
    source.start(CONFIG)
    assert len(source.task_configs(4)) == 1


@pytest.mark.parametrize(
    "offset",
    [
        {"version": 5, "index": 0},
        {"version": 5},
        {"version": 5, "index": 2, "rows": 7, "snapshot": True},
        None,
    ],
)
def test_offsets_that_may_be_set(offset: dict[str, Any] | None) -> None:
    assert SparkSourceConnector().alter_offsets(CONFIG, [(PLACE, offset)])
    if offset is not None:
        known = DeltaOffset.of(offset)
        assert known is not None
        assert DeltaOffset.of(known.to_json()) == known


@pytest.mark.parametrize(
    ("partition", "offset"),
    [
        ({"table": "/data/others"}, {"version": 5}),
        (PLACE, {"index": 5}),
        (PLACE, {"version": "5"}),
        (PLACE, {"version": -1}),
        (PLACE, {"version": True}),
        (PLACE, {"version": 5, "snapshot": 1}),
        (PLACE, {"version": 5, "other": 1}),
    ],
)
def test_offsets_that_no_turn_could_go_on_from(
    partition: dict[str, Any], offset: dict[str, Any]
) -> None:
    with pytest.raises(OffsetError):
        SparkSourceConnector().alter_offsets(CONFIG, [(partition, offset)])


class Action:
    """One of Delta's, whose own text is not always JSON."""

    def __init__(self, kind: str, **fields: Any) -> None:
        self.kind = kind
        for name, value in fields.items():
            setattr(self, name, lambda value=value: value)

    def getClass(self) -> Action:  # noqa: N802 (as Java has it)
        return self

    def getSimpleName(self) -> str:  # noqa: N802 (as Java has it)
        return self.kind

    def json(self) -> str:
        return '{"commitInfo":{"operationParameters":{"mode":Append}}}'


class Actions(list[Action]):
    def size(self) -> int:
        return len(self)

    def apply(self, place: int) -> Action:
        return self[place]


def test_what_a_version_has_changed() -> None:
    added = Action("AddFile", dataChange=True)
    told = [
        Action("CommitInfo", operation="UPDATE"),
        Action("Metadata", schemaString="columns"),
        added,
        Action("AddFile", dataChange=False),
        Action("RemoveFile", dataChange=False),
        Action("SetTransaction"),
    ]
    assert version_of(7, Actions(told)) == Version(7, [added], False, "columns", "UPDATE")
    told.append(Action("RemoveFile", dataChange=True))
    assert version_of(7, Actions(told)).removes


class File:
    def __init__(self, size: int) -> None:
        self._size = size

    def size(self) -> int:
        return self._size


def test_a_turn_takes_so_many_files_and_says_where_it_ends() -> None:
    found = Found(None, DeltaOffset(3))
    start = DeltaOffset(3, 1, 40)
    assert found.take([File(1)] * 3, start, DeltaOffset(4))
    assert found.starts == [start, DeltaOffset(3, 2)]
    assert not found.take([File(1)] * MOST_FILES, DeltaOffset(4), DeltaOffset(5))
    assert len(found.files) == MOST_FILES
    assert found.last == DeltaOffset(4, MOST_FILES - 2)


def test_a_turn_of_large_files_is_short() -> None:
    found = Found(None, DeltaOffset(0, snapshot=True))
    start = DeltaOffset(0, snapshot=True)
    assert not found.take([File(1 << 40), File(1)], start, DeltaOffset(1))
    assert found.last == DeltaOffset(0, 1, snapshot=True)


def rows(*numbers: tuple[int, int]) -> pa.RecordBatch:
    files, values = zip(*numbers, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(files, pa.int32()), pa.array(values, pa.int64())], [FILE, "value"]
    )


def told(batches: Iterable[Any]) -> list[tuple[list[int], dict[str, Any]]]:
    return [(b.records.column("value").to_pylist(), b.offsets[0][1]) for b in batches]


def test_rows_that_were_read_are_passed_over_and_each_offset_is_that_of_its_file() -> None:
    starts = (DeltaOffset(3, 1, 2), DeltaOffset(4, 0))
    reading = DeltaReading(PLACE, starts, DeltaOffset(5), RowRecords("t"))
    assert told(reading.read(rows((0, 10), (0, 11), (0, 12), (1, 13)))) == [
        ([12], {"version": 3, "index": 1, "rows": 3}),
        ([13], {"version": 4, "index": 0, "rows": 1}),
    ]
    assert told(reading.read(rows((1, 14)))) == [([14], {"version": 4, "index": 0, "rows": 2})]
    assert told(reading.end()) == [([], {"version": 5, "index": 0})]


def test_files_in_another_order_are_refused() -> None:
    starts = (DeltaOffset(3), DeltaOffset(3, 1))
    reading = DeltaReading(PLACE, starts, DeltaOffset(4), RowRecords("t"))
    with pytest.raises(FatalError, match="order"):
        list(reading.read(rows((1, 1), (0, 2))))
