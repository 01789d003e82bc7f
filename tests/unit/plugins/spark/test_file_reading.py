"""The rows of files: their records, their offsets, and the marks once all is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.plugins.objects.source_marks import Mark
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.plugins.spark.file_reading import FILE, FileOrder, FileReading, PlannedFile
from penstock.plugins.spark.row_records import BROKEN, RowRecords
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import RecordError
from penstock.sdk.offsets import canonical

A, B, C = (ListedObject(key, 10, 1000, f"10-{key}") for key in ("a", "b", "c"))


def address(listed: ListedObject) -> str:
    return f"file:///in/{listed.key}"


def rows(*found: tuple[ListedObject, str], broken: Sequence[str | None] = ()) -> pa.RecordBatch:
    columns: dict[str, Any] = {
        # Spark writes it with one slash.
        FILE: [f"file:/in/{listed.key}" for listed, _ in found],
        "value": [value for _, value in found],
    }
    if broken:
        columns[BROKEN] = pa.array(broken, pa.string())
    return pa.RecordBatch.from_pydict(columns)


def order(**skips: int) -> FileOrder:
    files = {address(f): PlannedFile(0, f, skips.get(f.key, 0)) for f in (A, B)}
    return FileOrder("/in", files, marks={0: Mark().offset()})


def reading(wanted: FileOrder) -> FileReading:
    return FileReading(wanted, RowRecords("t"))


def values(item: SourceBatch | RecordError) -> list[Any]:
    assert isinstance(item, SourceBatch)
    return list(item.records.column("value").to_pylist())


def offsets(item: SourceBatch | RecordError) -> dict[str, Any]:
    assert isinstance(item, SourceBatch)
    return {canonical(partition): offset for partition, offset in item.offsets}


def of(listed: ListedObject) -> str:
    return canonical({"bucket": "/in", "objectKey": listed.key})


def test_a_count_says_how_far_a_file_was_read_and_that_the_one_before_is_finished() -> None:
    (batch,) = reading(order()).read(rows((B, "1"), (B, "2"), (A, "3")))
    assert values(batch) == ["1", "2", "3"]
    found = offsets(batch)
    assert found[of(B)]["recordCount"] == 2
    assert found[of(B)]["done"] is True
    assert found[of(A)] == {
        "recordCount": 1,
        "etag": "10-a",
        "size": 10,
        "lastModified": 1000,
    }


def test_what_was_read_before_is_passed_over_also_across_batches() -> None:
    read = reading(order(b=3))
    assert list(read.read(rows((B, "1"), (B, "2")))) == []
    (batch,) = read.read(rows((B, "3"), (B, "4")))
    assert values(batch) == ["4"]
    assert offsets(batch)[of(B)]["recordCount"] == 4


def test_at_the_end_the_mark_moves_and_the_files_own_offsets_are_forgotten() -> None:
    wanted = FileOrder(
        "/in", order().files, settled=((0, C),), gone=("x",), marks={0: Mark().offset()}
    )
    read = reading(wanted)
    list(read.read(rows((A, "1"))))  # b has no rows
    (batch,) = read.end()
    found = offsets(batch)
    mark = Mark.of(found.pop(canonical({"bucket": "/in", "virtualBucket": 0})))
    assert mark.key == "c"
    assert all(mark.has_finished(each) for each in (A, B, C))
    x = canonical({"bucket": "/in", "objectKey": "x"})
    assert found == {of(A): None, of(B): None, of(C): None, x: None}


def test_a_row_that_spark_could_not_read_is_by_itself_and_is_passed() -> None:
    read = reading(order())
    first, done, bad, rest = read.read(
        rows((A, "1"), (B, ""), (B, "2"), broken=[None, "{oops", None])
    )
    assert values(first) == ["1"]
    assert offsets(done)[of(A)]["done"] is True
    assert isinstance(bad, RecordError)
    assert bad.data == b"{oops"
    assert bad.source_partition == {"bucket": "/in", "objectKey": "b"}
    assert bad.source_offset is not None
    assert bad.source_offset["recordCount"] == 1
    assert values(rest) == ["2"]
    assert offsets(rest)[of(B)]["recordCount"] == 2


def test_large_rows_come_in_pieces() -> None:
    wide = "x" * 1_000_000
    found = list(reading(order()).read(rows(*((A, wide) for _ in range(8)))))
    assert len(found) >= 4
    assert [offsets(each)[of(A)]["recordCount"] for each in found][-1] == 8


def test_columns_say_the_topic_the_key_the_partition_and_the_time() -> None:
    batch = pa.RecordBatch.from_pydict(
        {
            "topic": ["one", None],
            "key": [7, None],
            "partition": pa.array([3, None], pa.int32()),
            "timestamp": [5, None],
            "value": [{"a": 1}, {"a": 2}],
        }
    )
    made = RowRecords("t").made(batch)
    assert made.column("topic").to_pylist() == ["one", "t"]
    assert made.column("key").to_pylist() == [7, None]
    assert made.column("partition").to_pylist() == [3, None]
    assert made.column("timestamp").to_pylist() == [5, None]
    assert made.column("value").to_pylist() == [{"a": 1}, {"a": 2}]
