"""What the JDBC sink writes: modes, keys, tables that change, and what may go wrong."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.embedded.postgres import EmbeddedPostgres
from penstock.plugins.databases.jdbc_sink import JdbcSinkConnector
from penstock.plugins.databases.kept_offsets import OWN
from penstock.sdk import (
    RecordError,
    RetriableError,
    Schema,
    TakenOver,
    UserError,
    record_batch,
)
from played_table_sink import (
    ORDERS,
    UPSERT,
    VALUE,
    config,
    kept,
    records,
    row,
    sink,
    written,
)
from played_tables import read_tables
from tables import Tables
from waiting import eventually


def test_upsert_keeps_the_last_of_a_key(tables: Tables) -> None:
    made = config(tables, auto_create="true", **UPSERT)
    first = records(row(1, "a"), row(2, "b"), row(1, "c"))
    written(made, first, records(row(2, "d"), row(3, None, 7), start=3))
    found = tables.run("SELECT id, note, n FROM orders ORDER BY id")
    assert found == [(1, "c", None), (2, "d", None), (3, None, 7)]
    assert kept(tables) == 5


def test_update_adds_nothing(tables: Tables) -> None:
    tables.run("CREATE TABLE orders (id int PRIMARY KEY, note text, n smallint)")
    tables.run("INSERT INTO orders VALUES (1, 'old', 1)")
    made = config(tables, **{**UPSERT, "insert_mode": "update"})
    written(made, records(row(1, "x"), row(1, "new", 5), row(2, "none")))
    assert tables.run("SELECT * FROM orders") == [(1, "new", 5)]


@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_a_record_without_a_value_deletes(tables: Tables, mode: str) -> None:
    made = config(tables, auto_create="true", insert_mode=mode, pk_mode="record_key",
                  pk_fields="key", delete_enabled="true")  # fmt: skip
    values = [row(1, "a"), row(2, "b"), None, row(1, "again"), None]
    written(made, records(*values, keys=[1, 2, 1, 1, 2]))
    assert tables.run("SELECT key, note FROM orders") == [(1, "again")]


def test_deleting_from_a_table_that_is_missing(tables: Tables) -> None:
    made = config(tables, auto_create="true", insert_mode="upsert", pk_mode="record_key",
                  pk_fields="key", delete_enabled="true")  # fmt: skip
    written(made, records(None, keys=[1]))
    assert kept(tables) == 1


def test_kafkas_coordinates_as_the_key(tables: Tables) -> None:
    written(config(tables, auto_create="true", pk_mode="kafka"), records(row(1), row(2)))
    found = tables.run("SELECT __connect_topic, __connect_partition, __connect_offset, id "
                       "FROM orders ORDER BY 3")  # fmt: skip
    assert found == [("orders", 0, 0, 1), ("orders", 0, 1, 2)]


def test_tables_grow_on_request_only(tables: Tables) -> None:
    wider = Schema.struct({**VALUE.fields, "more": Schema.array(Schema.string(optional=True))})
    made = config(tables, auto_create="true")
    written(made, records(row(1)))
    more = records({**row(2), "more": ["x", None]}, schema=wider, start=1)
    with sink(made, 1) as task, pytest.raises(UserError, match=r"no column more.*auto\.evolve"):
        task.put(more)
    with sink({**made, "auto.evolve": "true"}, 1) as task:
        task.put(more)
        task.flush()
    assert tables.run("SELECT id, more FROM orders") == [(1, None), (2, ["x", None])]
    chosen = {**made, "fields.whitelist": "id"}
    with sink(chosen, 2) as task:
        task.put(records({**row(3, "left out"), "more": []}, schema=wider, start=2))
        task.flush()
    assert tables.run("SELECT note FROM orders WHERE id = 3") == [(None,)]


def test_schemas_that_change_from_record_to_record(tables: Tables) -> None:
    """A field is added, left out or of a wider type: as the worker puts them, schema by schema."""
    first = Schema.struct({"id": Schema.int32(), "note": Schema.string(optional=True)})
    added = Schema.struct({**first.fields, "size": Schema.int32(optional=True)})
    dropped = Schema.struct({"id": Schema.int32(), "size": Schema.int32(optional=True)})
    wider = Schema.struct({"id": Schema.int64(), "size": Schema.int64(optional=True)})
    rows: list[tuple[Schema, Any]] = [
        (first, {"id": 1, "note": "a"}),
        (added, {"id": 2, "note": "b", "size": 5}),
        (first, {"id": 3, "note": "c"}),
        (dropped, {"id": 4, "size": 6}),
        (wider, {"id": 5, "size": 7}),
    ]
    made = config(tables, auto_create="true", auto_evolve="true")
    with sink(made) as task:
        for offset, (schema, value) in enumerate(rows):
            task.put(records(value, start=offset, schema=schema))
        too_wide = records({"id": 6, "size": 1 << 40}, start=5, schema=wider)
        with pytest.raises(RecordError, match="out of range"):
            task.put(too_wide)
        task.flush()
    found = tables.run("SELECT id, note, size FROM orders ORDER BY id")
    nothing = None
    assert found == [
        (1, "a", nothing),
        (2, "b", 5),
        (3, "c", nothing),
        (4, nothing, 6),
        (5, nothing, 7),
    ]


def test_names_are_quoted(tables: Tables) -> None:
    """Whatever records and configurations call their fields and tables."""
    odd = Schema.struct({'i"d': Schema.int32(), "a b; --": Schema.string(), "from": Schema.int32()})
    made = config(tables, auto_create="true", insert_mode="upsert", pk_mode="record_value",
                  pk_fields='i"d')  # fmt: skip
    made["table.name.format"] = f'{tables.schema}.Odd; "One'
    with sink(made) as task:
        values = [{'i"d': 1, "a b; --": text, "from": 2} for text in ("x", "'); DROP TABLE x; --")]
        task.put(records(*values, schema=odd))
        task.flush()
    assert tables.run('SELECT * FROM "Odd; ""One"') == [(1, "'); DROP TABLE x; --", 2)]


def test_a_missing_table_says_what_to_do(tables: Tables) -> None:
    with sink(config(tables)) as task, pytest.raises(UserError, match=r"no table.*auto\.create"):
        task.put(records(row(1)))


def test_a_column_that_is_dropped_meanwhile(tables: Tables) -> None:
    made = config(tables, auto_create="true")
    with sink(made) as task:
        task.put(records(row(1)))
        task.flush()
        tables.run("ALTER TABLE orders DROP COLUMN note")
        with pytest.raises(UserError, match="no column note"):
            task.put(records(row(2), start=1))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (row(50, "a\0b"), "invalid byte sequence"),
        (row(50, "too long a text"), "value too long"),
        (row(50, "x", -5), "violates check constraint"),
        (row(3, "x"), "duplicate key"),
        (None, "delete.enabled"),
    ],
)
def test_the_bad_record_is_named_and_the_rest_can_land(
    tables: Tables, bad: Any, words: str
) -> None:
    tables.run(
        "CREATE TABLE orders (id int PRIMARY KEY, note varchar(8), n smallint CHECK (n > 0))"
    )
    values = [row(number, f"n{number}", 1) for number in range(40)]
    values[23] = bad
    with sink(config(tables)) as task:
        batch = records(*values)
        with pytest.raises(RecordError, match=words) as raised:
            task.put(batch)
        assert raised.value.row == 23
        good = pa.concat_tables([pa.table(batch.slice(0, 23)), pa.table(batch.slice(24))])
        task.put(good.combine_chunks().to_batches()[0])
        task.flush()
    assert [i for (i,) in tables.run("SELECT id FROM orders ORDER BY id")] == [
        number for number in range(40) if number != 23
    ]


@pytest.mark.parametrize(
    ("bad", "words"),
    [(Random(1).randbytes(20_000).hex(), "index row"), ("hidden", "violates check option")],
    ids=["index", "view"],
)
def test_a_record_that_an_index_or_a_view_does_not_take(
    tables: Tables, bad: str, words: str
) -> None:
    tables.run("CREATE TABLE kept (id int, note text UNIQUE, n smallint)")
    tables.run("CREATE VIEW orders AS SELECT * FROM kept WHERE note <> 'hidden' WITH CHECK OPTION")
    with sink(config(tables)) as task, pytest.raises(RecordError, match=words) as raised:
        task.put(records(row(1, "a"), row(2, "b"), row(3, bad), row(4, "d")))
    assert raised.value.row == 2


@pytest.mark.parametrize(
    ("bad", "words"),
    [(row(70_000, "1"), "smallint out of range"), (row(2, "x"), "invalid input syntax")],
)
def test_a_value_that_does_not_fit_its_column(tables: Tables, bad: Any, words: str) -> None:
    tables.run("CREATE TABLE orders (id smallint, note integer, n smallint)")
    with sink(config(tables)) as task:
        with pytest.raises(RecordError, match=words) as raised:
            task.put(records(row(1, "1"), bad, row(3, "3")))
        assert raised.value.row == 1
        task.put(records(row(1, "1")))
        task.put(records(row(3, "3"), start=2))
        task.flush()
    assert tables.run("SELECT id, note FROM orders ORDER BY 1") == [(1, 1), (3, 3)]


def test_a_type_that_no_value_of_it_fits(tables: Tables) -> None:
    tables.run("CREATE TABLE orders (id int, note text, n timestamp)")
    with sink(config(tables)) as task, pytest.raises(UserError, match="cannot cast type smallint"):
        task.put(records(row(1, "1", 5)))


def test_rows_are_counted_from_the_start_of_what_was_put(tables: Tables) -> None:
    made = config(tables, auto_create="true", pk_mode="record_value", pk_fields="id")
    written(made, records(row(0), row(1)))
    with sink(made, 0, epoch=2) as task, pytest.raises(RecordError) as raised:
        task.put(records(row(0), row(1), row(2), row(2)))
    assert raised.value.row == 3


def test_what_is_in_the_database_is_not_written_again(tables: Tables) -> None:
    """Ended between the database's commit and Kafka's: the group is behind, by its own commit."""
    made = config(tables, auto_create="true")
    written(made, records(row(0), row(1), row(2)))
    with sink(made, 1, OWN, epoch=2) as task:
        task.put(records(row(1), row(2), row(3), start=1))
        task.flush()
    assert [i for (i,) in tables.run("SELECT id FROM orders")] == [0, 1, 2, 3]
    with sink(made, 2, "", epoch=3) as task:  # set back by somebody else
        task.put(records(row(2), row(3), start=2))
        assert task.flush().offsets == {}
        task.flush()
    assert [i for (i,) in tables.run("SELECT id FROM orders")] == [0, 1, 2, 3, 2, 3]


def test_nothing_is_committed_before_the_mark_is(tables: Tables) -> None:
    with sink(config(tables, auto_create="true"), 0, "") as task:
        task.put(records(row(0)))
        held = task.flush()
        assert held.metadata == {("orders", 0): OWN}
        assert held.offsets == {}
        assert tables.run("SELECT to_regclass('orders')") == [(None,)]
        assert task.flush().offsets is None
    assert tables.run("SELECT id FROM orders") == [(0,)]


def test_a_task_that_was_replaced_commits_nothing(tables: Tables) -> None:
    made = config(tables, auto_create="true")
    with sink(made, epoch=5) as old, sink(made, epoch=6) as new:
        old.put(records(row(0, "old")))
        with pytest.raises(TakenOver):
            old.flush()
        old.stop()
        new.put(records(row(0, "new")))
        new.flush()
    assert tables.run("SELECT note FROM orders") == [("new",)]


def test_a_task_that_was_replaced_before_it_opens(tables: Tables) -> None:
    """It asks Kafka first, which refuses it; and where that comes late, the other has moved on."""
    made = config(tables, auto_create="true")
    written(made)
    with sink(made, epoch=6) as new:
        new.put(records(row(0, "new")))
        new.flush()
        with sink(made, 1, epoch=5) as late:
            late.put(records(row(1, "late"), start=1))
            held = late.flush()
            assert (held.metadata, held.offsets) == ({ORDERS: "penstock:5"}, {})
            assert kept(tables) == 1
            new.put(records(row(1, "new"), start=1))
            new.flush()
            with pytest.raises(TakenOver):
                late.flush()
    assert tables.run("SELECT id, note FROM orders ORDER BY id") == [(0, "new"), (1, "new")]


@pytest.mark.parametrize("metadata", [OWN, "penstock:1", ""])
def test_epochs_that_begin_anew(tables: Tables, metadata: str) -> None:
    """Kafka has forgotten the workers' group: what is stored is greater, and nobody has it."""
    made = config(tables, auto_create="true")
    with sink(made, epoch=1 << 40) as before:
        before.put(records(*map(row, range(3))))
        before.flush()
    with sink(made, 2, metadata, epoch=1) as task:
        task.put(records(row(2), row(3), start=2))
        held = task.flush()
        assert (held.metadata, held.offsets) == ({ORDERS: "penstock:1"}, {})
        done = task.flush()
        assert (done.metadata, done.offsets) == ({ORDERS: OWN}, None)
        task.put(records(row(4), start=4))
        assert task.flush().offsets is None
    again = [] if metadata else [2]  # somebody else has set it back
    found = [i for (i,) in tables.run("SELECT id FROM orders ORDER BY id")]
    assert found == sorted([0, 1, 2, 3, 4, *again])
    assert tables.run("SELECT next, epoch FROM offsets") == [(5, 1)]


def test_only_what_has_records_counts_as_marked(tables: Tables) -> None:
    """A worker commits the texts of partitions that have moved, and no others."""
    made = config(tables, auto_create="true")
    with sink(made, 0, "") as task:
        task.flush()
        task.put(records(row(0)))
        assert task.flush().offsets == {}
        assert task.flush().offsets is None


def test_altered_offsets_move_what_is_kept(tables: Tables) -> None:
    made = config(tables, auto_create="true")
    connector = JdbcSinkConnector()
    assert connector.alter_offsets(made, {ORDERS: 3}), "before there is anything"
    written(made, records(*map(row, range(10))))
    connector.alter_offsets(made, {ORDERS: 20})
    assert kept(tables) == 10, "what is beyond counts once the group has it"
    connector.alter_offsets(made, {ORDERS: 4})
    assert kept(tables) == 4
    connector.alter_offsets(made, {ORDERS: None})
    assert tables.run("SELECT * FROM offsets") == []


def test_a_lock_of_somebody_else_is_waited_for(tables: Tables) -> None:
    made = config(tables, auto_create="true")
    written(made, records(row(0)))
    with sink(made, 1) as task:
        with tables.connection() as other, other.transaction():
            other.execute("LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(RetriableError, match="lock timeout"):
                task.put(records(row(1), start=1))
        task.put(records(row(1), start=1))
        task.flush()
    assert tables.run("SELECT count(*) FROM orders") == [(2,)]


def test_a_lost_connection_gives_up_the_lease_and_nothing_is_lost(
    tables: Tables, postgres: EmbeddedPostgres
) -> None:
    made = config(tables, auto_create="true")
    with sink(made) as task:
        task.put(records(row(0)))
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
        tables.run(f"{ended} pg_backend_pid() AND application_name = 'penstock'")
        with pytest.raises(TakenOver):
            task.put(records(row(1), start=1))
    with sink(made, epoch=2) as task:
        task.put(records(row(0), row(1)))
        task.flush()
    assert tables.run("SELECT count(*) FROM orders") == [(2,)]


def test_wrong_credentials_tell_no_secret(tables: Tables) -> None:
    made = {**config(tables), "connection.password": "hunter2-wrong"}
    with pytest.raises(UserError, match=r"Check 'connection\.url'") as raised, sink(made):
        pass
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"insert_mode": "upsert"}, "pk.mode"),
        ({"delete_enabled": "true"}, "delete.enabled"),
        ({"pk_mode": "kafka", "pk_fields": "a"}, "pk.fields"),
        ({"connection_url": "jdbc:sqlite:x"}, "connection.url"),
    ],
)
def test_bad_configurations_name_the_key(tables: Tables, more: dict[str, str], key: str) -> None:
    ((named, _),) = JdbcSinkConnector().validate(config(tables, **more))
    assert named == key


TYPES = """
  id int PRIMARY KEY, n numeric(38,10), wide numeric, ts timestamptz, wall timestamp, d date,
  t time, u uuid, j jsonb, numbers int[], words text[], amounts numeric[], b bytea,
  v varchar(40), flag boolean, f4 real, f8 double precision, i2 smallint, i8 bigint,
  letters char(5), bits bit(3), more_bits bit varying(9), flags boolean[], span interval
"""


def test_types_go_round_unchanged(tables: Tables) -> None:
    """PostgreSQL → records → PostgreSQL, with nulls, extremes, unicode and time zones."""
    tables.run(f"CREATE TABLE orders_in ({TYPES})")
    tables.run(f"CREATE TABLE orders ({TYPES})")
    tables.run(
        "INSERT INTO orders_in VALUES "
        "(1, 1234567890123456789012345678.0123456789, 1e100, '2024-02-29 12:34:56.789123+05:30', "
        "'9999-12-31 23:59:59.999999', '2024-02-29', '23:59:59.999', gen_random_uuid(), "
        '\'{"ü": [1, null, "🎉"]}\', \'{1,NULL,2147483647}\', \'{x,"y, z",NULL,""}\', '
        "'{1.50,NULL}', '\\x00ff', 'grüße 🎉', true, 'NaN', '-Infinity', -32768, "
        "-9223372036854775808, 'ab', '101', '11', '{t,NULL}', '1 year -3 days'), "
        "(2" + ", NULL" * 23 + "), "
        "(3, 0, 'NaN', 'infinity', '-infinity', '-infinity', '00:00', NULL, 'null', '{}', '{}', "
        "'{}', '', '', false, '-0', 1e-300, 32767, 9223372036854775807, 'äöüßé', '000', '', "
        "'{}', '0')"
    )
    source = tables.config(mode="bulk", topic_prefix="t-", table_whitelist="orders_in",
                           schema_pattern=tables.schema,
                           timestamp_granularity="micros_iso_datetime_string")  # fmt: skip
    (read,) = read_tables(source, polls=1)
    made = config(tables)
    values = read.records
    offsets = pa.array(range(3), pa.int64())
    batch = record_batch("orders", values.column("value"), offset=offsets,
                         value_field=values.schema.field("value"),
                         partition=pa.array([0] * 3, pa.int32()))  # fmt: skip
    written(made, batch)
    same = "SELECT count(*) FROM orders x JOIN orders_in y ON x::text = y::text"
    assert tables.run(same) == [(3,)]
    assert eventually(lambda: kept(tables)) == 3


def test_connects_own_types(tables: Tables) -> None:
    """As another connector's records have them, infinity included."""
    schema = Schema.struct(
        {
            "at": Schema.timestamp(),
            "day": Schema.date(),
            "time": Schema.time(optional=True),
            "price": Schema.decimal(2),
            "small": Schema.int8(),
        }
    )
    moment = dt.datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=dt.UTC)
    value = {"at": moment, "day": dt.date(2024, 1, 2), "time": dt.time(3, 4), "small": -128}
    forever = {**value, "at": 9223372036825200000, "day": 2**31 - 1, "time": None}
    price = {"price": Decimal("-12.34")}
    first = records({**value, **price}, schema=schema)
    written(config(tables, auto_create="true"), first,
            records({**forever, **price}, schema=schema, start=1))  # fmt: skip
    found = tables.run("SELECT at::text, day::text, time::text, price::text, small FROM orders")
    assert found == [
        ("2024-01-02 03:04:05.678", "2024-01-02", "03:04:00", "-12.34", -128),
        ("infinity", "infinity", None, "-12.34", -128),
    ]
