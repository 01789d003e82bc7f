"""Kinds of databases that another package brings, found by its entry points."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.plugins.databases.jdbc_source import JdbcSourceConnector
from penstock.plugins.databases.jdbc_url import dialect_class
from penstock.plugins.databases.sqlite_dialect import SqliteDialect
from penstock.sdk import ConfigError, OffsetReader
from played_tables import last_offset, read_tables, rows_of

Install = Callable[..., None]
ORDERS = "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT, `from` MOMENT NOT NULL)"
DAY = 86_400_000


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a package on the path that names these dialects."""

    def put(**dialects: str) -> None:
        info = tmp_path / "acme_ledgers-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-ledgers\nVersion: 1.0\n")
        lines = [f"{kind} = {target}" for kind, target in dialects.items()]
        (info / "entry_points.txt").write_text("\n".join(["[penstock.databases]", *lines]))
        monkeypatch.syspath_prepend(str(tmp_path))

    return put


class Ledger:
    """A database in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, statement: str, *rows: tuple[Any, ...]) -> None:
        with closing(sqlite3.connect(self.path)) as link, link:
            link.executemany(statement, rows or [()])

    def config(self, **more: str) -> dict[str, str]:
        base = {"connection_url": f"jdbc:ledger:{self.path}", "mode": "incrementing",
                "topic_prefix": "t-", "poll_interval_ms": "0"}  # fmt: skip
        return {key.replace("_", "."): value for key, value in {**base, **more}.items()}


@pytest.fixture
def ledger(tmp_path: Path, install: Install) -> Ledger:
    install(ledger="ledger_dialect:LedgerDialect")
    made = Ledger(tmp_path / "shop.ledger")
    made.run(ORDERS)
    return made


def test_its_tables_are_read(ledger: Ledger) -> None:
    ledger.run("INSERT INTO orders VALUES (?, ?, ?)", (1, "a", 0), (2, None, 5))
    (batch,) = read_tables(ledger.config())
    rows = batch.records.column("value").to_pylist()
    assert [(row["id"], row["note"]) for row in rows] == [(1, "a"), (2, None)]
    assert last_offset([batch]) == (
        {"protocol": "1", "table": "orders"},
        {"incrementing": 2},
    )
    ledger.run("INSERT INTO orders VALUES (?, ?, ?)", (3, "c", 9))
    again = read_tables(ledger.config(), [last_offset([batch])])
    assert [row["id"] for row in rows_of(again)] == [3]


def test_its_rows_are_found_by_their_times(ledger: Ledger) -> None:
    """Names that are words of SQL are quoted as the dialect quotes."""
    now = time.time_ns() // 1_000_000
    ledger.run("INSERT INTO orders VALUES (?, ?, ?)", (1, "a", now - DAY), (2, "b", now + DAY))
    config = ledger.config(mode="timestamp+incrementing", timestamp_column_name="from")
    found = read_tables(config)
    assert [row["id"] for row in rows_of(found)] == [1]
    ledger.run("INSERT INTO orders VALUES (?, ?, ?)", (3, "c", now - DAY), (4, "d", now - 2 * DAY))
    again = read_tables(config, [last_offset(found)])
    assert [row["id"] for row in rows_of(again)] == [3]


def test_its_own_clock_says_what_is_old(ledger: Ledger) -> None:
    now = time.time_ns() // 1_000_000
    ledger.run("INSERT INTO orders VALUES (?, ?, ?)", (1, "a", now - DAY))
    by_time = {"mode": "timestamp", "timestamp_column_name": "from"}
    assert rows_of(read_tables(ledger.config(**by_time)))
    found = read_tables(ledger.config(**by_time, timestamp_initial="-1"))
    assert rows_of(found) == []
    assert last_offset(found)[1]["timestamp"] >= now


def test_its_first_load_is_divided(ledger: Ledger) -> None:
    ledger.run("INSERT INTO orders VALUES (?, ?, ?)", (1, "a", 0), (900_000, "b", 0))
    connector = JdbcSourceConnector()
    connector.start(ledger.config())
    plan = connector.plan(OffsetReader(), [0, 1])
    connector.stop()
    assert plan is not None
    assert all('"orders"' in text for share in plan for text in share.values())
    assert plan[0] != plan[1]


def test_in_passes_without_pages(ledger: Ledger) -> None:
    ledger.run("INSERT INTO orders VALUES (?, ?, ?)", *((n, "x", n) for n in range(1, 301)))
    config = ledger.config(mode="bulk", batch_max_rows="100", poll_interval_ms="600000")
    assert [row["id"] for row in rows_of(read_tables(config))] == list(range(1, 301))


def test_a_query(ledger: Ledger) -> None:
    ledger.run("INSERT INTO orders VALUES (?, ?, ?)", (1, "a", 0))
    config = ledger.config(mode="bulk", query="SELECT note FROM orders;")
    assert {row["note"] for row in rows_of(read_tables(config, polls=1))} == {"a"}


def test_the_limits_for_files_hold_for_it_too(ledger: Ledger) -> None:
    config = {**ledger.config(), "file.allowed.roots": "/srv"}
    [(key, text)] = JdbcSourceConnector().validate(config)
    assert key == "connection.url"
    assert "is not in a folder" in text


@pytest.mark.usefixtures("ledger")
def test_an_unknown_kind_says_what_there_is_and_what_reads_the_rest() -> None:
    config = {"connection.url": "jdbc:oracle:thin:@h", "mode": "bulk", "topic.prefix": "t"}
    [(key, text)] = JdbcSourceConnector().validate(config)
    assert key == "connection.url"
    assert "'oracle' are not supported" in text
    assert "ledger, postgres, postgresql, sqlite" in text
    assert "SparkSource, which reads any database with a JDBC driver" in text
    with pytest.raises(ConfigError, match="SparkSource"):
        JdbcSourceConnector().start(config)


def test_what_is_built_in_stays(install: Install) -> None:
    install(sqlite="ledger_dialect:LedgerDialect")
    assert dialect_class("sqlite") is SqliteDialect


def test_a_class_that_is_no_dialect(install: Install) -> None:
    install(odd="played_tables:JdbcSourceTask")
    with pytest.raises(ConfigError, match=r"kind of database odd \(.*\) is no Dialect") as refused:
        dialect_class("odd")
    assert refused.value.key == "connection.url"
