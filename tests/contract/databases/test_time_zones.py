"""Timestamps without a zone, as those of the zone in the configuration."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.sdk import record_batch
from played_table_sink import config, sink
from played_tables import read_tables
from tables import Tables

WALLS = (
    "2024-07-01 12:00:00.123",
    "2024-01-01 00:00:00",
    "2024-11-03 01:30:00",  # twice in New York, the first of them in summer time
    "1883-11-18 12:03:57",
    "infinity",
    "-infinity",
)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("rows", [WALLS, WALLS[:4]], ids=["with infinity", "finite"])
def test_a_wall_clock_comes_back_as_it_was(
    tables: Tables, zone: str, rows: tuple[str, ...]
) -> None:
    for name in ("things", "orders"):
        tables.run(f"CREATE TABLE {name} (wall timestamp PRIMARY KEY, at timestamptz)")
    for wall in rows:
        tables.run("INSERT INTO things VALUES (%s::timestamp, '2024-07-01 12:00Z')", wall)
    source = tables.config(mode="bulk", topic_prefix="t-", table_whitelist="things",
                           schema_pattern=tables.schema, db_timezone=zone)  # fmt: skip
    (read,) = read_tables(source, polls=1)
    made = config(tables, db_timezone=zone, insert_mode="upsert", pk_mode="record_value",
                  pk_fields="wall")  # fmt: skip
    with sink(made) as task:
        task.put(_records(read.records))
        task.flush()
    text = "SELECT wall::text, at::text FROM {} ORDER BY 1"
    assert tables.run(text.format("orders")) == tables.run(text.format("things"))


def _records(read: pa.RecordBatch) -> pa.RecordBatch:
    value, field = read.column("value"), read.schema.field("value")
    offsets = pa.array(range(len(value)), pa.int64())
    partition = pa.array([0] * len(value), pa.int32())
    return record_batch("orders", value, value_field=field, offset=offsets, partition=partition)
