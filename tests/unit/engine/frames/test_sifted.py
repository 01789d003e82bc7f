"""What a look takes of records that cannot be read, and what it says of them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.engine.frames.converted_frame import ERROR
from penstock.engine.frames.problems import READING, Problem
from penstock.engine.frames.sifted import (
    NOTHING,
    OVERHEAD,
    POSITION,
    SCHEMA,
    Few,
    Sifted,
    records_of,
)

PARIS = pa.timestamp("us", "Europe/Paris")


def bad(partition: int, *offsets: int, payload: bool = True) -> pa.RecordBatch:
    """As a stage of Spark's gets them, in whatever time zone its session has."""
    count = len(offsets)
    columns = {
        "topic": pa.array(["t"] * count),
        "partition": pa.array([partition] * count, pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
        "key": pa.array([b"k"] * count, pa.binary()),
        "value": pa.array([b"v" * 99] * count, pa.binary()),
        "timestamp": pa.array([1_700_000_000_123_000] * count, PARIS),
        "headers": pa.array([[{"key": "h", "value": b"x"}]] * count, SCHEMA.field("headers").type),
        ERROR: pa.array(["bad"] * count),
    }
    kept = columns if payload else {name: columns[name] for name in (*POSITION, ERROR)}
    return pa.RecordBatch.from_pydict(kept)


def taken(most: int, *batches: pa.RecordBatch) -> list[tuple[int, int, bool]]:
    """Partition, offset, and whether it is one that could be taken."""
    found = pa.Table.from_batches([*Few(most)(batches)], SCHEMA)
    rows = found.select(["partition", "offset", ERROR]).to_pylist()
    return [(row["partition"], row["offset"], row[ERROR] is not None) for row in rows]


def test_of_each_partition_so_much_is_taken_and_then_where_that_ends() -> None:
    two = 2 * (OVERHEAD + 100)
    found = taken(two, bad(0, 1, 2), bad(1, 5), bad(0, 7, 9), bad(1, 6))
    assert found == [(0, 1, True), (0, 2, True), (1, 5, True), (0, 7, False), (1, 6, True)]


def test_one_is_taken_however_large_it_is() -> None:
    assert taken(0, bad(0, 1), bad(0, 2), bad(0, 3)) == [(0, 1, True), (0, 2, False)]


def test_without_payload_only_places_travel() -> None:
    [found] = Few(10_000)([bad(0, 1, 2, payload=False)])
    assert found.schema == SCHEMA
    assert found.column("value").null_count == 2


def test_a_record_comes_out_as_it_is_in_its_topic() -> None:
    [batch] = Few(10_000)([bad(3, 8)])
    found = records_of(pa.Table.from_batches([batch]))
    [row] = found.to_pylist()
    assert (row["topic"], row["partition"], row["offset"]) == ("t", 3, 8)
    assert (row["key"], row["value"], row["timestamp"]) == (b"k", b"v" * 99, 1_700_000_000_123)
    assert row["headers"] == [{"key": "h", "value": b"x"}]


def sifted(*batches: pa.RecordBatch) -> Sifted:
    table = pa.Table.from_batches([each for part in batches for each in Few(9999)([part])])
    return Sifted(records_of(table), tuple(table.column(ERROR).to_pylist()))


def test_two_looks_are_alike_if_they_have_refused_the_same() -> None:
    one, other = sifted(bad(0, 1, 2), bad(1, 5)), sifted(bad(1, 5), bad(0, 2, 1))
    assert one.digest == other.digest != sifted(bad(0, 1, 2)).digest
    assert one.first == {("t", 0): 1, ("t", 1): 5} == other.first
    assert (NOTHING.digest, NOTHING.first) == ("", {})


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (Problem("x", READING, "acme.Converter").written, "acme.Converter"),
        ("the value is not JSON of the schema", "penstock.sdk.frames.FrameConnector"),
        ('{"a": 1}', "penstock.sdk.frames.FrameConnector"),
    ],
)
def test_who_has_refused_a_record(text: str, step: str) -> None:
    found = Problem.told(text)
    assert (found.stage, found.step) == (READING, step)
    assert found.text in text
