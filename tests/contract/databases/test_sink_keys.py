"""Keys of records that are one key in a table, and names that PostgreSQL would cut."""

from __future__ import annotations

from uuid import UUID

import pyarrow as pa
import pytest

from penstock.sdk import ConfigError, RecordError, Schema, UserError
from penstock.sdk.packing import column
from played_table_sink import UPSERT, config, records, row, sink, written
from tables import Tables

ID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
NOTED = Schema.struct({"id": Schema.string(), "note": Schema.string()})


@pytest.mark.parametrize("mode", ["upsert", "update"])
def test_of_two_spellings_of_a_key_the_last_counts(tables: Tables, mode: str) -> None:
    tables.run("CREATE TABLE orders (id uuid PRIMARY KEY, note text)")
    tables.run("INSERT INTO orders VALUES (%s, 'old')", ID)
    made = config(tables, **{**UPSERT, "insert_mode": mode})
    spelled = [ID, ID.upper(), f"{{{ID}}}"]
    for order in (spelled, spelled[::-1]):
        values = [{"id": key, "note": key} for key in order]
        written({**made, "name": order[0]}, records(*values, schema=NOTED))
        assert tables.run("SELECT * FROM orders") == [(UUID(ID), order[-1])]


def test_a_deletion_counts_for_every_spelling(tables: Tables) -> None:
    tables.run("CREATE TABLE orders (key numeric PRIMARY KEY, note text)")
    made = config(tables, insert_mode="upsert", pk_mode="record_key", pk_fields="key",
                  delete_enabled="true", fields_whitelist="note")  # fmt: skip
    batch = records(row(1, "a"), None, row(3, "b"), keys=[1, 2, 3])
    texts = batch.column("key").cast("string").to_pylist()
    assert texts == ["1", "2", "3"]
    spelled = _with_text_keys(batch, ["1.0", "1", "2"])
    with sink(made) as task:
        task.put(spelled)
        task.flush()
    assert tables.run("SELECT key, note FROM orders") == [(2, "b")]


def _with_text_keys(batch: pa.RecordBatch, keys: list[str]) -> pa.RecordBatch:
    key, field = column("key", Schema.string(), keys)
    return batch.set_column(batch.schema.get_field_index("key"), field, key)


def test_names_that_would_be_cut_are_refused(tables: Tables) -> None:
    long = "f" * 64
    wide = Schema.struct({"id": Schema.int32(), long: Schema.int32(optional=True)})
    made = config(tables, auto_create="true", auto_evolve="true")
    with sink(made) as task:
        with pytest.raises(UserError, match=r"cuts names after 63 bytes.*fields\.whitelist"):
            task.put(records({"id": 1, long: 2}, schema=wide))
        task.put(records(row(1)))
        with pytest.raises(UserError, match="cuts names after 63 bytes"):
            task.put(records({"id": 1, long: 2}, schema=wide, start=1))
    named = {**made, "table.name.format": f"{tables.schema}.{'t' * 60}_${{topic}}"}
    with sink(named) as task, pytest.raises(ConfigError, match=r"table\.name\.format"):
        task.put(records(row(1)))


def test_records_go_to_the_tables_of_the_topics_that_a_transform_has_made(tables: Tables) -> None:
    """All of a batch or nothing, and offsets are those of the topic that was read."""
    tables.run("CREATE TABLE odd (id int PRIMARY KEY, note text, n smallint)")
    tables.run("CREATE TABLE even (id int PRIMARY KEY, note varchar(3), n smallint)")
    batch = records(*(row(number, "note" if number == 4 else "x") for number in range(6)))
    with sink(config(tables)) as task:
        task.read_from = "orders", 0
        with pytest.raises(RecordError, match="value too long") as raised:
            task.put(_routed(batch, ["odd", "even", "odd", "even", "even", "odd"]))
        assert raised.value.row == 4
        task.put(_routed(batch.slice(0, 4), ["odd", "even", "odd", "even"]))
        task.put(_routed(batch.slice(5), ["odd"]))
        task.flush()
    assert tables.run("SELECT id FROM odd ORDER BY id") == [(0,), (2,), (5,)]
    assert tables.run("SELECT id FROM even ORDER BY id") == [(1,), (3,)]
    assert tables.run("SELECT topic, partition, next FROM offsets") == [("orders", 0, 6)]


def test_topics_that_become_one_keep_their_order_and_coordinates(tables: Tables) -> None:
    made = config(tables, auto_create="true", pk_mode="kafka")
    made["table.name.format"] = f"{tables.schema}.whole"
    with sink(made) as task:
        task.read_from = "orders", 0
        task.put(_routed(records(row(1), row(2), row(3)), ["b", "a", "b"]))
        task.flush()
    found = "SELECT __connect_topic, __connect_offset, id FROM whole ORDER BY ctid"
    assert tables.run(found) == [("orders", number, number + 1) for number in range(3)]


def _routed(batch: pa.RecordBatch, topics: list[str]) -> pa.RecordBatch:
    return batch.set_column(0, batch.schema.field(0), pa.array(topics).dictionary_encode())
