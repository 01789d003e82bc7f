"""The statements that bring copied rows into their table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.plugins.databases.merging import keys_are_exact, statements
from penstock.plugins.databases.written_rows import Rows
from penstock.sdk.schema import Schema


def _rows(schema: Schema, zone: str = "UTC") -> Rows:
    return Rows(pa.table({"id": []}), {"id": schema, "n": Schema.int32()}, ("id",), zone)


@pytest.mark.parametrize(
    ("schema", "kind", "exact"),
    [
        (Schema.int64(), "bigint", True),
        (Schema.int64(), "text", False),
        (Schema.string(), "text", True),
        (Schema.string(), "character varying", True),
        (Schema.string(), "bpchar", False),
        (Schema.string(), "uuid", False),
        (Schema.string(), "numeric", False),
        (Schema.decimal(2), "numeric", True),
        (Schema.decimal(2), "integer", False),
        (Schema.timestamp(), "timestamp with time zone", True),
        (Schema.timestamp(), "date", False),
        (Schema.float64(), "double precision", False),
    ],
)
def test_which_keys_differ_in_the_table_too(schema: Schema, kind: str, exact: bool) -> None:
    types = {"id": kind, "n": "integer"}
    assert keys_are_exact(_rows(schema), types) is exact
    made = statements("upsert", "t", _rows(schema), types, deleting=False, writing=True)
    assert len(made) == (1 if exact else 2), "what costs a join is done only where it is needed"
    added = statements("insert", "t", _rows(schema), types, deleting=False, writing=True)
    assert len(added) == 1, "a key that is there already is an error"


def test_moments_in_columns_without_a_zone() -> None:
    rows = _rows(Schema.timestamp(), "Europe/Berlin")
    wall, moment = ({"id": f"timestamp {w} time zone", "n": "integer"} for w in ("without", "with"))
    (placed,) = statements("insert", "t", rows, wall, deleting=False, writing=True)
    assert "AT TIME ZONE 'Europe/Berlin'" in placed
    (as_it_is,) = statements("insert", "t", rows, moment, deleting=False, writing=True)
    assert "AT TIME ZONE" not in as_it_is
