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


ANCIENT = """
  (1, '4713-01-01 00:00:00+00 BC', '4713-01-01 00:00:00 BC', '4713-01-01 BC'),
  (2, '0044-03-15 12:00:00.5+00 BC', '0001-12-31 23:59:59.999 BC', '0001-12-31 BC'),
  (3, '0001-01-01 00:00:00+00', '0001-01-01', '0001-01-01'),
  (4, '20000-01-01 00:00:00+00', '20000-01-01', '20000-01-01')
"""
INFINITE = "(5, 'infinity', '-infinity', 'infinity'), (6, '-infinity', 'infinity', '-infinity')"


@pytest.mark.parametrize("granularity", ["connect_logical", "micros_iso_datetime_string"])
@pytest.mark.parametrize("rows", [ANCIENT, f"{ANCIENT}, {INFINITE}"], ids=["finite", "all"])
def test_years_before_the_first_and_after_9999(tables: Tables, granularity: str, rows: str) -> None:
    for name in ("things", "orders"):
        tables.run(f"CREATE TABLE {name} (id int, at timestamptz, wall timestamp, day date)")
    tables.run(f"INSERT INTO things VALUES {rows}")
    source = tables.config(
        mode="bulk",
        topic_prefix="t-",
        table_whitelist="things",
        schema_pattern=tables.schema,
        timestamp_granularity=granularity,
    )
    (read,) = read_tables(source, polls=1)
    with sink(config(tables)) as task:
        task.put(_records(read.records))
        task.flush()
    both = [
        tables.run(f"SELECT t::text FROM {name} t ORDER BY id") for name in ("orders", "things")
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@pytest.mark.parametrize("kind", ["timestamptz", "timestamp", "date"])
def test_rows_of_any_time_are_found(tables: Tables, kind: str, zone: str) -> None:
    """One at a time, so that an offset stands at each of them."""
    times = (
        "-infinity",
        "4713-01-01 BC",
        "0044-03-15 BC",
        "0001-01-01",
        "1969-12-31",
        "2024-03-10",
    )
    tables.run(f"CREATE TABLE things (id int PRIMARY KEY, at {kind} NOT NULL)")
    for number, time in enumerate(times):
        tables.run(f"INSERT INTO things VALUES (%s, %s::{kind})", number, time)
    made = tables.config(mode="timestamp+incrementing", topic_prefix="t-", db_timezone=zone,
                         timestamp_column_name="at", incrementing_column_name="id",
                         schema_pattern=tables.schema, batch_max_rows="1")  # fmt: skip
    found = [batch.records.column("value").field("id") for batch in read_tables(made)]
    assert [number.to_pylist() for number in found] == [[n] for n in range(len(times))]
