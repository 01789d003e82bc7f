"""The order in which a JDBC source reads rows, where a column is selected as another type."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from played_tables import last_offset, read_tables, rows_of
from tables import Tables


def _config(tables: Tables, **more: str) -> dict[str, str]:
    base = {"topic_prefix": "t-", "schema_pattern": tables.schema, "incrementing_column_name": "id"}
    return tables.config(**{**base, "poll_interval_ms": "0", "batch_max_rows": "7", **more})


@pytest.mark.parametrize("kind", ["numeric(20,0)", "numeric", "bigint"])
def test_numbers_are_read_in_their_order_and_not_in_that_of_their_texts(
    tables: Tables, kind: str
) -> None:
    tables.run(f"CREATE TABLE big (id {kind} PRIMARY KEY, at timestamptz NOT NULL)")
    tables.run("INSERT INTO big SELECT n, '2024-01-01Z' FROM generate_series(1, 120) n")
    by_number = _config(tables, mode="incrementing")
    by_both = _config(tables, mode="timestamp+incrementing", timestamp_column_name="at")
    by_query = _config(tables, mode="incrementing", query=f"SELECT * FROM {tables.schema}.big")
    for config in (by_number, by_both, by_query):
        batches = read_tables(config)
        assert _numbers(rows_of(batches)) == list(range(1, 121))
        tables.run("INSERT INTO big VALUES (1000, '2024-01-02Z')")
        more = read_tables(config, [last_offset(batches)])
        assert _numbers(rows_of(more)) == [1000]
        tables.run("DELETE FROM big WHERE id = 1000")


def _numbers(rows: list[Any]) -> list[int]:
    return [int(Decimal(row["id"])) for row in rows]
