"""What the JDBC source reads of PostgreSQL: types, choices, modes, and what may go wrong."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.embedded.postgres import EmbeddedPostgres
from penstock.plugins.databases import postgres_dialect
from penstock.plugins.databases.jdbc_source import JdbcSourceConnector
from penstock.sdk import (
    ConfigError,
    OffsetError,
    OffsetReader,
    RetriableError,
    SourceBatch,
    UserError,
    from_field,
)
from played_tables import last_offset, read_tables, rows_of
from tables import Tables
from waiting import eventually

KINDS = """
CREATE TABLE kinds (
  id int PRIMARY KEY, n numeric(10,2), wide numeric, ts timestamptz, wall timestamp, d date,
  t time, u uuid, j jsonb, numbers int[], words text[], amounts numeric(6,1)[], b bytea,
  v varchar(40), flag boolean, f4 real, f8 double precision, i2 smallint, i8 bigint,
  mood mood, span interval)
"""


def _config(tables: Tables, **more: str) -> dict[str, str]:
    base = {"mode": "incrementing", "topic_prefix": "t-", "schema_pattern": tables.schema}
    return tables.config(**{**base, "poll_interval_ms": "0", **more})


@pytest.fixture
def kinds(tables: Tables) -> Tables:
    tables.run("CREATE TYPE mood AS ENUM ('glad', 'sad')")
    tables.run(KINDS)
    tables.run(
        "INSERT INTO kinds VALUES (1, 12345678.90, 1e40, '2024-02-29 12:34:56.789123+02', "
        "'2024-02-29 12:34:56.789', '2024-02-29', '23:59:59.999', "
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{\"ü\": [1, null]}', '{1,NULL,3}', "
        "'{x,\"y, z\",NULL}', '{1.5}', '\\x00ff', 'grüße 🎉', true, 1.5, 1e308, -32768, "
        "9223372036854775807, 'sad', '1 day 2 hours')"
    )
    tables.run("INSERT INTO kinds (id) VALUES (2)")
    tables.run("INSERT INTO kinds (id, ts, wall, d) VALUES (3, 'infinity', '-infinity', "
               "'infinity')")  # fmt: skip
    return tables


def _read_kinds(tables: Tables, **more: str) -> list[SourceBatch]:
    return read_tables(
        _config(tables, incrementing_column_name="id", table_whitelist="kinds", **more)
    )


def test_types_come_as_connect_has_them(kinds: Tables) -> None:
    (batch,) = _read_kinds(kinds)
    row = batch.records.column("value")[0].as_py()
    assert row["n"] == Decimal("12345678.90")
    assert row["wide"] == "1" + "0" * 40
    assert row["ts"] == dt.datetime(2024, 2, 29, 10, 34, 56, 789000, tzinfo=dt.UTC)
    assert row["wall"] == dt.datetime(2024, 2, 29, 12, 34, 56, 789000, tzinfo=dt.UTC)
    assert row["t"] == dt.time(23, 59, 59, 999000)
    assert row["u"] == "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    assert row["j"] == '{"ü": [1, null]}'
    assert row["numbers"] == [1, None, 3]
    assert row["words"] == ["x", "y, z", None]
    assert row["amounts"] == ["1.5"]
    assert row["b"] == b"\x00\xff"
    assert row["v"] == "grüße 🎉"
    assert (row["flag"], row["f4"], row["f8"]) == (True, 1.5, 1e308)
    assert (row["i2"], row["i8"]) == (-32768, 2**63 - 1)
    assert (row["mood"], row["span"]) == ("sad", "1 day 02:00:00")
    empty = batch.records.column("value")[1].as_py()
    assert {value for name, value in empty.items() if name != "id"} == {None}


def test_the_schema_is_the_tables(kinds: Tables) -> None:
    (batch,) = _read_kinds(kinds, key_columns="id")
    schema = from_field(batch.records.schema.field("value"))
    assert schema is not None
    assert schema.name == "kinds"
    assert not schema.fields["id"].optional
    assert schema.fields["n"].optional
    assert schema.fields["n"].scale == 2
    assert batch.records.column("key").to_pylist() == [1, 2, 3]
    assert batch.records.column("topic")[0].as_py() == "t-kinds"


def test_infinity_passes_through_a_converter_as_the_jdbc_driver_writes_it(kinds: Tables) -> None:
    (batch,) = _read_kinds(kinds)
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"}, is_key=False)
    values = batch.records.column("value")
    written = converter.encode(values, batch.records.schema.field("value"))
    text = written[2].as_py().decode()
    assert '"ts":9223372036825200000' in text
    assert '"wall":-9223372036832400000' in text
    assert '"d":2147483647' in text


def test_micros_are_kept_on_request(kinds: Tables) -> None:
    (batch,) = _read_kinds(kinds, timestamp_granularity="micros_iso_datetime_string")
    times = batch.records.column("value").field("ts").to_pylist()
    assert times == ["2024-02-29T10:34:56.789123", None, "infinity"]
    with pytest.raises(UserError, match="infinite"):
        _read_kinds(kinds, timestamp_granularity="micros_long")


def test_times_without_a_zone_are_those_of_the_zone_in_the_configuration(kinds: Tables) -> None:
    (batch,) = _read_kinds(kinds, db_timezone="Europe/Berlin")
    assert batch.records.column("value")[0].as_py()["wall"] == dt.datetime(
        2024, 2, 29, 11, 34, 56, 789000, tzinfo=dt.UTC
    )


def test_numeric_mapping(tables: Tables) -> None:
    tables.run("CREATE TABLE sums (id serial, a numeric(4,0), b numeric(12,0), c numeric(5,2))")
    tables.run("INSERT INTO sums (a, b, c) VALUES (9999, 123456789012, 1.25)")
    (batch,) = read_tables(_config(tables, numeric_mapping="best_fit"))
    value = batch.records.column("value")
    assert [value.type.field(name).type for name in "abc"] == [pa.int16(), pa.int64(), pa.float64()]
    assert value[0].as_py() == {"id": 1, "a": 9999, "b": 123456789012, "c": 1.25}


def test_a_value_that_cannot_be_read_names_column_and_table(tables: Tables) -> None:
    tables.run("CREATE TABLE odd (id serial PRIMARY KEY, n numeric(5,2), grid int[])")
    tables.run("INSERT INTO odd (n) VALUES (1), ('NaN')")
    with pytest.raises(UserError, match=r"column n of table .*odd"):
        read_tables(_config(tables))
    tables.run("UPDATE odd SET n = 1, grid = '{{1,2},{3,4}}'")
    with pytest.raises(UserError, match="more than one dimension in column grid"):
        read_tables(_config(tables))


def test_quoted_names_are_taken_as_they_are(tables: Tables) -> None:
    tables.run('CREATE TABLE "Odd; ""Name" ("Id" serial, "from" text, "a b" int)')
    tables.run('INSERT INTO "Odd; ""Name" ("from", "a b") VALUES (\'x\', 1)')
    (batch,) = read_tables(_config(tables, key_columns="Id,from"))
    assert rows_of([batch]) == [{"Id": 1, "from": "x", "a b": 1}]
    assert batch.records.column("key").to_pylist() == [{"Id": 1, "from": "x"}]


def _numbered(tables: Tables, *names: str) -> None:
    for name in names:
        tables.run(f"CREATE TABLE {name} (id serial PRIMARY KEY, note text)")
        tables.run(f"INSERT INTO {name} (note) VALUES ('{name}')")


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({}, {"orders", "users", "logs"}),
        ({"table_whitelist": "orders, nothing"}, {"orders"}),
        ({"table_blacklist": "logs"}, {"orders", "users"}),
        ({"table_include_list": ".*\\.(orders|users)"}, {"orders", "users"}),
        ({"table_exclude_list": ".*\\.o.*"}, {"users", "logs"}),
    ],
)
def test_tables_are_chosen(tables: Tables, choice: dict[str, str], expected: set[str]) -> None:
    _numbered(tables, "orders", "users", "logs")
    assert {row["note"] for row in rows_of(read_tables(_config(tables, **choice)))} == expected


def test_the_offset_has_confluents_shape(tables: Tables) -> None:
    tables.run("CREATE TABLE seen (id serial, at timestamptz NOT NULL)")
    tables.run("INSERT INTO seen (at) VALUES ('2024-01-01 00:00:00.123456Z')")
    config = _config(tables, mode="timestamp+incrementing", timestamp_column_name="at",
                     validate_non_null="false")  # fmt: skip
    partition, offset = last_offset(read_tables(config))
    assert partition == {"protocol": "1", "table": f"{tables.schema}.seen"}
    assert offset == {"incrementing": 1, "timestamp": 1704067200123, "timestamp_nanos": 123456000}
    theirs = {"protocol": "1", "table": f"postgres.{tables.schema}.seen"}
    assert read_tables(config, [(theirs, offset)]) == []
    tables.run("INSERT INTO seen (at) VALUES ('2024-01-01 00:00:00.123456Z')")
    (batch,) = read_tables(config, [(theirs, offset)])
    assert batch.offsets[0][0] == theirs, "the offset of Confluent's connector is continued"


def test_a_row_that_is_committed_late_is_not_passed_over(tables: Tables) -> None:
    """Its time is older than that of rows that were already there to be read."""
    tables.run("CREATE TABLE late (n int, at timestamptz NOT NULL DEFAULT clock_timestamp())")
    config = _config(tables, mode="timestamp", timestamp_column_name="at",
                     timestamp_delay_interval_ms="1500")  # fmt: skip
    offsets: list[Any] = []
    seen: list[int] = []

    def read() -> bool:
        batches = read_tables(config, offsets)
        seen.extend(row["n"] for row in rows_of(batches))
        if batches:
            offsets[:] = [last_offset(batches)]
        return len(seen) >= 2

    with tables.connection() as slow, slow.transaction():
        slow.execute("INSERT INTO late VALUES (1)")
        tables.run("INSERT INTO late VALUES (2)")
        assert not read()
        assert seen == []
    eventually(read, every=0.2)
    assert seen == [1, 2]


def test_rows_of_one_time_are_never_parted(tables: Tables) -> None:
    tables.run("CREATE TABLE ties (n int, at timestamp NOT NULL)")
    tables.run("INSERT INTO ties SELECT n, '2024-01-01'::timestamp + interval '1 s' * (n / 40) "
               "FROM generate_series(0, 99) n")  # fmt: skip
    config = _config(tables, mode="timestamp", timestamp_column_name="at", batch_max_rows="7")
    batches = read_tables(config)
    assert [batch.records.num_rows for batch in batches] == [40, 40, 20]


def test_timestamp_initial(tables: Tables) -> None:
    tables.run("CREATE TABLE aged (n int, at timestamptz NOT NULL)")
    tables.run("INSERT INTO aged VALUES (1, '2020-01-01Z'), (2, '2024-01-01Z')")
    config = _config(tables, mode="timestamp", timestamp_column_name="at")
    since = {**config, "timestamp.initial": "1600000000000"}
    assert [row["n"] for row in rows_of(read_tables(since))] == [2]
    now = {**config, "timestamp.initial": "-1"}
    (mark,) = read_tables(now)
    assert mark.records.num_rows == 0, "only the offset, so that the next task begins there too"
    tables.run("INSERT INTO aged VALUES (3, clock_timestamp())")
    assert [row["n"] for row in rows_of(read_tables(now, [last_offset([mark])]))] == [3]


def test_bulk_reads_everything_in_every_pass_and_goes_on_within_one(tables: Tables) -> None:
    tables.run("CREATE TABLE heap AS SELECT n, repeat('x', 500) AS filler "
               "FROM generate_series(1, 3000) n")  # fmt: skip
    tables.run("DELETE FROM heap WHERE n BETWEEN 500 AND 2500")
    config = _config(tables, mode="bulk", batch_max_rows="300", poll_interval_ms="600000")
    expected = [*range(1, 500), *range(2501, 3001)]
    batches = read_tables(config)
    assert sorted(row["n"] for row in rows_of(batches)) == expected
    partition, done = last_offset(batches)
    assert done["bulk.done"]
    assert read_tables(config, [(partition, done)]) == [], "the next pass is not due"
    assert len(rows_of(read_tables(config, [(partition, {**done, "bulk.started": 1})]))) == 999
    first = batches[0]
    rest = read_tables(config, [last_offset([first])])
    assert sorted(row["n"] for row in rows_of([first, *rest])) == expected


def test_bulk_of_a_query_and_a_view(tables: Tables) -> None:
    _numbered(tables, "orders")
    tables.run("CREATE VIEW seen AS SELECT id, note FROM orders")
    query = f"SELECT id, 1.50::numeric(4,2) AS price FROM {tables.schema}.orders;"
    (batch,) = read_tables(_config(tables, mode="bulk", query=query), polls=1)
    assert rows_of([batch]) == [{"id": 1, "price": Decimal("1.50")}]
    assert batch.offsets[0][0] == {"query": "query"}
    config = _config(tables, mode="bulk", table_types="VIEW,TABLE", table_whitelist="seen")
    assert rows_of(read_tables(config, polls=1)) == [{"id": 1, "note": "orders"}]


def test_a_table_that_is_altered_while_it_is_read(tables: Tables) -> None:
    _numbered(tables, "orders")
    config = _config(tables)
    connector = JdbcSourceConnector()
    connector.start(config)
    task = connector.task_class()
    plan = connector.plan(OffsetReader(), [0])
    assert plan is not None
    task.start({**config, **plan[0]}, OffsetReader())
    try:
        assert task.poll() is not None
        tables.run("ALTER TABLE orders DROP COLUMN note, ADD COLUMN size int DEFAULT 3")
        tables.run("INSERT INTO orders DEFAULT VALUES")
        polled = task.poll()
        assert isinstance(polled, SourceBatch)
        assert rows_of([polled]) == [{"id": 2, "size": 3}]
        tables.run("DROP TABLE orders")
        with pytest.raises(UserError, match=r"has no table .*orders"):
            task.poll()
    finally:
        task.stop()
        connector.stop()


def test_a_look_asks_the_database(tables: Tables) -> None:
    _numbered(tables, "orders")
    connector = JdbcSourceConnector()
    connector.start(_config(tables))
    partition = {"protocol": "1", "table": f"{tables.schema}.orders"}
    behind, there = ([(partition, {"incrementing": n})] for n in (0, 1))
    assert connector.look(OffsetReader(behind))
    assert not connector.look(OffsetReader(there))
    connector.stop()


def test_a_lock_of_somebody_else_is_waited_for(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the connector and by a task: each is heard again after a while."""
    monkeypatch.setattr(postgres_dialect, "LOCK_TIMEOUT", "100ms")
    _numbered(tables, "orders")
    connector = JdbcSourceConnector()
    connector.start(_config(tables))
    with tables.connection() as other, other.transaction():
        other.execute("LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
        assert connector.look(OffsetReader())
        with pytest.raises(RetriableError, match="lock timeout"):
            read_tables(_config(tables))
    connector.stop()
    assert [row["note"] for row in rows_of(read_tables(_config(tables)))] == ["orders"]


def test_wrong_credentials_tell_what_to_check_and_no_secret(
    tables: Tables, postgres: EmbeddedPostgres
) -> None:
    config = {**_config(tables), "connection.password": "hunter2-wrong"}
    with pytest.raises(UserError, match=r"Check 'connection.url'") as raised:
        read_tables(config)
    assert "hunter2" not in str(raised.value)
    assert "password authentication failed" in str(raised.value)
    gone = {**config, "connection.url": "jdbc:postgresql://127.0.0.1:1/none?password=hunter2"}
    with pytest.raises(RetriableError) as passing:
        read_tables(gone)
    assert "hunter2" not in str(passing.value)


@pytest.mark.parametrize(
    ("more", "key", "words"),
    [
        ({"connection_url": "jdbc:oracle:thin:@h"}, "connection.url", "not supported"),
        ({"connection_url": "jdbc:postgresql://me:pw@h/d"}, "connection.url", "not into"),
        ({"mode": "timestamp"}, "timestamp.column.name", "needs"),
        ({"query": "SELECT 1", "table_whitelist": "a"}, "query", "not both"),
        ({"query": "SELECT 1"}, "incrementing.column.name", "must be set"),
        ({"table_include_list": "("}, "table.include.list", "not a regular expression"),
        ({"connection_url": "jdbc:sqlite:x", "mode": "timestamp", "timestamp_column_name": "a"},
         "mode", "found by a time"),
    ],
)  # fmt: skip
def test_bad_configurations_name_the_key(
    tables: Tables, more: dict[str, str], key: str, words: str
) -> None:
    ((named, message),) = JdbcSourceConnector().validate(_config(tables, **more))
    assert named == key
    assert words in message


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"table_whitelist": "plain"}, "set 'incrementing.column.name'"),
        ({"table_whitelist": "plain", "incrementing_column_name": "n"}, "may be null"),
        ({"table_whitelist": "plain", "incrementing_column_name": "no"}, "no column no"),
        ({"mode": "timestamp", "timestamp_column_name": "n", "validate_non_null": "false"},
         "is of type int4"),
        ({"key_columns": "nobody", "incrementing_column_name": "n", "validate_non_null": "false"},
         "no column nobody"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit_the_mode(tables: Tables, more: dict[str, str], words: str) -> None:
    tables.run("CREATE TABLE plain (n int)")
    with pytest.raises(ConfigError, match=words):
        read_tables(_config(tables, **more))


def test_a_database_in_a_file_is_within_the_workers_limits(tmp_path: Path) -> None:
    config = {
        "connection.url": f"jdbc:sqlite:{tmp_path}/no.db",
        "mode": "bulk",
        "topic.prefix": "t",
    }
    with pytest.raises(UserError, match="There is no file"):
        read_tables(config)
    assert not (tmp_path / "no.db").exists()
    outside = {**config, "file.allowed.roots": str(tmp_path / "other")}
    ((key, message),) = JdbcSourceConnector().validate(outside)
    assert key == "connection.url"
    assert "file.allowed.roots" in message


def test_altered_offsets_are_checked() -> None:
    connector = JdbcSourceConnector()
    table = {"protocol": "1", "table": "public.t"}
    assert connector.alter_offsets({}, [(table, {"incrementing": 5}), ({"query": "query"}, None)])
    for bad in [(None, None), ({"x": "y"}, None), (table, {}), (table, {"incrementing": "5"})]:
        with pytest.raises(OffsetError):
            connector.alter_offsets({}, [bad])
