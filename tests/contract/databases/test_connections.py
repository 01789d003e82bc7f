"""How PostgreSQL is reached: what a URL says besides host and database, and what errors tell."""

from __future__ import annotations

import pytest

from penstock.sdk import PenstockError
from played_table_sink import config, records, row, sink, written
from played_tables import read_tables, rows_of
from tables import Tables


def test_tables_without_a_schema_are_those_of_the_urls(tables: Tables) -> None:
    tables.run('CREATE SCHEMA "odd schema"')
    made = {**config(tables, auto_create="true"), "table.name.format": "${topic}"}
    url = made["connection.url"]
    made["connection.url"] = f'{url}?currentSchema="odd%20schema",{tables.schema}'
    try:
        written(made, records(row(1)))
        assert tables.run('SELECT id FROM "odd schema".orders') == [(1,)]
    finally:
        tables.run('DROP SCHEMA "odd schema" CASCADE')


@pytest.mark.parametrize("password", ["hunter2", "p@ss/w%rd"])
def test_a_url_that_is_wrong_shows_no_password(tables: Tables, password: str) -> None:
    """The driver repeats the whole URL, in which the password is written in another way."""
    made = {**config(tables), "connection.url": "jdbc:postgresql://[::1]x:5432/d"}
    with pytest.raises(PenstockError) as raised, sink({**made, "connection.password": password}):
        pass
    assert "hunter2" not in str(raised.value)
    assert "ss%2Fw" not in str(raised.value)
    assert "[hidden]" in str(raised.value)


def test_texts_of_dates_do_not_depend_on_the_servers_settings(tables: Tables) -> None:
    """A server that writes 03/04 would mean another day to the one that reads it."""
    tables.run("CREATE TABLE spans (id int PRIMARY KEY, days date[], span interval)")
    tables.run("INSERT INTO spans VALUES (1, '{2024-03-04}', '1 year -3 days')")
    config = tables.config(mode="bulk", topic_prefix="t-", schema_pattern=tables.schema)
    odd = "options=-c%20datestyle%3DSQL%2CDMY%20-c%20intervalstyle%3Dsql_standard"
    config["connection.url"] += f"?{odd}"
    (row,) = rows_of(read_tables(config, polls=1))
    assert row == {"id": 1, "days": ["2024-03-04"], "span": "1 year -3 days"}
