"""Times as texts and as offsets, before the year 1 and without an end as well."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from penstock.plugins.databases.conversions import (
    READ_DAY_MINUS_INFINITY,
    READ_MINUS_INFINITY,
    moment_texts,
)
from penstock.plugins.databases.postgres_dialect import PostgresDialect
from penstock.plugins.databases.table_offsets import RowOffset
from penstock.sdk.databases import Column, TypeOptions, as_is
from penstock.sdk.schema import Schema

YEAR_1 = -62_135_596_800_000_000
KINDS = ("timestamptz", "timestamp", "date")


def _micros(*numbers: int | None) -> pa.Array:
    return pa.array(numbers, pa.timestamp("us"))


@pytest.mark.parametrize("more", ["", "Z"])
def test_years_before_the_first_are_bc(more: str) -> None:
    times = _micros(YEAR_1 - 1, None, YEAR_1, 0, 500_000_000_000_000_000)
    assert moment_texts(times, "-%m-%dT%H:%M:%S", more).to_pylist() == [
        f"0001-12-31T23:59:59.999999{more} BC",
        None,
        f"0001-01-01T00:00:00.000000{more}",
        f"1970-01-01T00:00:00.000000{more}",
        f"17814-05-16T00:53:20.000000{more}",
    ]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_offset_stands_where_its_row_does(kind: str, zone: str) -> None:
    dialect = PostgresDialect(TypeOptions(zone=zone))
    column = Column("at", kind, Schema.timestamp(), '"at"', as_is)
    days = kind == "date"
    wanted = {
        0: "1970-01-01T00:00:00.000000",
        1_720_000_000_123_456: "2024-07-03T09:46:40.123456",
        YEAR_1 - 1: "0001-12-31T23:59:59.999999 BC",
    }
    for micros, text in wanted.items():
        if days and micros % 86_400_000_000:
            continue
        read = pa.scalar(micros // 86_400_000_000, pa.date32()) if days else _micros(micros)[0]
        stored = RowOffset(None, dialect.time_micros(column, read)).to_json()
        again = RowOffset.of(stored).micros
        assert again is not None
        era = text.endswith(" BC")
        shown = dialect.time_value(column, again)
        assert shown == (text if kind != "timestamptz" else _with_zone(text, era))


def _with_zone(text: str, era: bool) -> str:
    return text.replace(" BC", "+00 BC") if era else f"{text}+00"


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_offset_before_all_time(kind: str, zone: str) -> None:
    dialect = PostgresDialect(TypeOptions(zone=zone))
    column = Column("at", kind, Schema.timestamp(), '"at"', as_is)
    days = pa.array([READ_DAY_MINUS_INFINITY], pa.int32()).cast(pa.date32())
    read = days[0] if kind == "date" else _micros(READ_MINUS_INFINITY)[0]
    stored = RowOffset(None, dialect.time_micros(column, read)).to_json()
    assert dialect.time_value(column, RowOffset.of(stored).micros or 0) == "-infinity"


def test_the_hour_that_comes_twice() -> None:
    dialect = PostgresDialect(TypeOptions(zone="America/New_York"))
    column = Column("at", "timestamp", Schema.timestamp(), '"at"', as_is)
    wall = pa.scalar(dt.datetime(2024, 11, 3, 1, 30), pa.timestamp("us"))  # noqa: DTZ001 (a wall clock)
    micros = dialect.time_micros(column, wall)
    assert micros == 1_730_611_800_000_000, "the first of them"
    assert dialect.time_value(column, micros) == "2024-11-03T01:30:00.000000"
