"""The rows of a table: an offset after each, but never between two of the same time."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from penstock.plugins.spark.row_reading import NUMBER, TIME, OrderedReading, WholeReading
from penstock.plugins.spark.row_records import RowRecords
from penstock.sdk.errors import FatalError

TABLE = {"protocol": "1", "table": "t"}
RECORDS = RowRecords("topic")


def rows(*values: int, **columns: list[int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"value": list(values), **columns})


def told(batches: Any) -> list[tuple[list[int], dict[str, int] | None]]:
    found = []
    for batch in batches:
        offset = batch.offsets[0][1] if batch.offsets else None
        found.append((batch.records.column("value").to_pylist(), offset))
    return found


def test_by_a_number_each_row_has_an_offset_and_the_end_passes_a_gap() -> None:
    read = OrderedReading(TABLE, {"incrementing": 9}, RECORDS)
    assert told(read.read(rows(10, 20, **{NUMBER: [1, 4]}))) == [([10, 20], {"incrementing": 4})]
    assert told(read.end()) == [([], {"incrementing": 9})]


def test_by_a_time_rows_of_the_last_time_wait_for_more_of_it() -> None:
    end = {"timestamp": 8, "timestamp_nanos": 8000000}
    read = OrderedReading(TABLE, end, RECORDS)
    first = told(read.read(rows(1, 2, 3, **{TIME: [1000, 2000, 2000]})))
    assert first == [([1], {"timestamp": 1, "timestamp_nanos": 1000000})]
    assert told(read.read(rows(4, **{TIME: [2000]}))) == []
    assert told(read.read(rows(5, **{TIME: [3000]}))) == [
        ([2, 3, 4], {"timestamp": 2, "timestamp_nanos": 2000000})
    ]
    assert told(read.end()) == [([5], end)]


def test_by_both_every_row_has_an_offset_and_the_end_adds_none() -> None:
    read = OrderedReading(TABLE, None, RECORDS)
    both = {TIME: [1000, 1000], NUMBER: [1, 2]}
    assert told(read.read(rows(1, 2, **both))) == [
        ([1, 2], {"incrementing": 2, "timestamp": 1, "timestamp_nanos": 1000000})
    ]
    assert told(read.end()) == []


def test_rows_in_another_order_end_the_turn() -> None:
    read = OrderedReading(TABLE, None, RECORDS)
    list(read.read(rows(1, 2, **{NUMBER: [1, 4]})))
    with pytest.raises(FatalError, match="order"):
        list(read.read(rows(3, **{NUMBER: [3]})))


def test_a_pass_over_everything_has_an_offset_at_its_end() -> None:
    read = WholeReading(TABLE, {"bulk.started": 1}, RECORDS)
    assert told(read.read(rows(1, 2))) == [([1, 2], None)]
    assert told(read.end()) == [([], {"bulk.started": 1})]
