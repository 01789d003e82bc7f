"""What the JDBC source reads of SQLite, as Arrow by ADBC, and what may go wrong."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.sdk import ConfigError, RetriableError, Schema, UserError, from_field
from played_tables import last_offset, read_tables, rows_of

KINDS = """
CREATE TABLE kinds (
  id INTEGER PRIMARY KEY, small SMALLINT, flag BOOLEAN, f DOUBLE, t VARCHAR(10), day DATE,
  b BLOB, price DECIMAL(10,2), anything, "from" TEXT NOT NULL)
"""

HOLDER = """
import sqlite3, sys
link = sqlite3.connect(sys.argv[1])
link.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


class File:
    """A database in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, statement: str, *rows: tuple[Any, ...]) -> None:
        with closing(sqlite3.connect(self.path)) as link, link:
            link.executemany(statement, rows or [()])

    def config(self, **more: str) -> dict[str, str]:
        base = {"connection_url": f"jdbc:sqlite:{self.path}", "mode": "incrementing",
                "topic_prefix": "t-", "poll_interval_ms": "0"}  # fmt: skip
        return {key.replace("_", "."): value for key, value in {**base, **more}.items()}


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "it's a shop.db")


def test_types_nulls_and_extremes(file: File) -> None:
    file.run(KINDS)
    whole = (-(2**63), 7, 1, 1e308, "grüße 🎉", "2024-02-29", b"\x00\xff", 1.25, "x", "a\0b")
    file.run(f"INSERT INTO kinds VALUES ({', '.join('?' * len(whole))})", whole)
    file.run('INSERT INTO kinds (id, "from") VALUES (?, ?)', (2**63 - 1, ""))
    (batch,) = read_tables(file.config(key_columns="from"))
    value = batch.records.column("value")
    assert value.type.field("small").type == pa.int64()
    assert value.type.field("b").type == pa.binary()
    names = ("id", "small", "flag", "f", "t", "day", "b", "price", "anything", "from")
    expected = (*whole[:2], True, *whole[3:7], "1.25", "x", "a\0b")
    assert value[0].as_py() == dict(zip(names, expected, strict=True))
    nothing = dict.fromkeys(names) | {"id": 2**63 - 1, "from": ""}
    assert value[1].as_py() == nothing
    assert batch.records.column("key").to_pylist() == ["a\0b", ""]
    schema = from_field(batch.records.schema.field("value"))
    assert schema is not None
    assert schema.fields["id"] == Schema.int64()
    assert [name for name in names if not schema.fields[name].optional] == ["id", "from"]


def test_a_column_of_nothing_but_null_keeps_its_type(file: File) -> None:
    file.run(KINDS)
    file.run('INSERT INTO kinds (id, "from") VALUES (1, ?)', ("x",))
    (batch,) = read_tables(file.config())
    kinds = {field.name: field.type for field in batch.records.column("value").type}
    assert (kinds["t"], kinds["f"], kinds["flag"]) == (pa.string(), pa.float64(), pa.bool_())


def test_numbers_that_are_read_as_texts_come_in_their_order(file: File) -> None:
    file.run("CREATE TABLE big (id NUMERIC PRIMARY KEY)")
    file.run("INSERT INTO big VALUES (?)", *((number,) for number in range(1, 121)))
    config = file.config(incrementing_column_name="id", validate_non_null="false")
    batches = read_tables({**config, "batch.max.rows": "7"})
    assert [row["id"] for row in rows_of(batches)] == [str(n) for n in range(1, 121)]


def test_names_are_quoted(file: File) -> None:
    file.run('CREATE TABLE "odd; ""one" ("Id" INTEGER PRIMARY KEY, "a b" INT)')
    file.run('INSERT INTO "odd; ""one" VALUES (?, ?)', (1, 2))
    (batch,) = read_tables(file.config())
    assert rows_of([batch]) == [{"Id": 1, "a b": 2}]
    assert batch.offsets[0][0] == {"protocol": "1", "table": 'odd; "one'}


def test_bulk_goes_on_within_a_pass(file: File) -> None:
    file.run("CREATE TABLE heap (n INT)")
    file.run("INSERT INTO heap VALUES (?)", *((n,) for n in range(2000)))
    file.run("DELETE FROM heap WHERE n BETWEEN 300 AND 1500")
    config = file.config(mode="bulk", batch_max_rows="100", poll_interval_ms="600000")
    first = read_tables(config)[0]
    rest = read_tables(config, [last_offset([first])])
    assert [row["n"] for row in rows_of([first, *rest])] == [*range(300), *range(1501, 2000)]
    assert read_tables(config, [last_offset(rest)]) == [], "the next pass is not due"


def test_a_query(file: File) -> None:
    file.run("CREATE TABLE orders (id INTEGER PRIMARY KEY, price REAL)")
    file.run("INSERT INTO orders (price) VALUES (?)", (1.5,), (2.5,))
    query = "SELECT id AS n, price * 2 AS twice, 'x' AS text FROM orders WHERE price < 9;"
    config = file.config(query=query, incrementing_column_name="n")
    (batch,) = read_tables(config)
    assert rows_of([batch]) == [
        {"n": 1, "twice": 3.0, "text": "x"},
        {"n": 2, "twice": 5.0, "text": "x"},
    ]
    partition, offset = last_offset([batch])
    assert (partition, offset) == ({"query": "query"}, {"incrementing": 2})
    assert read_tables(config, [(partition, offset)]) == []


def test_a_lock_of_somebody_else_is_waited_for(file: File) -> None:
    file.run("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    file.run("INSERT INTO orders VALUES (?)", (1,))
    # Locks hold between processes only.
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(file.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(RetriableError, match="database is locked"):
            read_tables(file.config())
        other.communicate()
    assert rows_of(read_tables(file.config())) == [{"id": 1}]


def test_a_file_that_is_no_database_is_told(file: File) -> None:
    file.path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(UserError, match=r"sqlite database .*shop\.db .*not a database"):
        read_tables(file.config())


def test_what_does_not_fit_the_mode_is_told(file: File) -> None:
    file.run("CREATE TABLE plain (a TEXT)")
    with pytest.raises(ConfigError, match=r"set 'incrementing\.column\.name'"):
        read_tables(file.config())
    with pytest.raises(ConfigError, match="no column nobody"):
        read_tables(file.config(incrementing_column_name="nobody"))
