"""The contract kit, with tables of PostgreSQL and SQLite as the source."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest

from penstock.plugins.databases.jdbc_source import JdbcSourceConnector
from penstock.sdk import SourceConnector
from penstock.sdk.testing import SourceContract, SourceUnderTest
from tables import Tables


class PostgresTable(SourceUnderTest):
    """A table that a sequence numbers."""

    connector: ClassVar[type[SourceConnector]] = JdbcSourceConnector

    def __init__(self, tables: Tables, **config: str) -> None:
        self._tables, self._config = tables, config
        tables.run(
            "CREATE TABLE numbers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int, "
            "changed timestamptz NOT NULL DEFAULT clock_timestamp())"
        )

    def config(self) -> Mapping[str, str]:
        return self._tables.config(
            topic_prefix="t-",
            schema_pattern=self._tables.schema,
            poll_interval_ms="5",
            batch_max_rows="30",
            **self._config,
        )

    def write(self, numbers: Sequence[int]) -> None:
        rows = "INSERT INTO numbers (n) SELECT unnest(%s::int[])"
        self._tables.run(rows, list(numbers))

    def number(self, value: Any) -> int:
        return int(value["n"])


class SqliteTable(SourceUnderTest):
    """A database that is not PostgreSQL."""

    connector: ClassVar[type[SourceConnector]] = JdbcSourceConnector

    def __init__(self, file: Path) -> None:
        self._file = file
        self._run("CREATE TABLE numbers (id INTEGER PRIMARY KEY, n INT)")

    def _run(self, statement: str, rows: Sequence[Sequence[int]] = ((),)) -> None:
        with closing(sqlite3.connect(self._file, timeout=30)) as link, link:
            link.executemany(statement, rows)

    def config(self) -> Mapping[str, str]:
        return {
            "connection.url": f"jdbc:sqlite:{self._file}",
            "mode": "incrementing",
            "topic.prefix": "t-",
            "poll.interval.ms": "5",
            "batch.max.rows": "30",
        }

    def write(self, numbers: Sequence[int]) -> None:
        self._run("INSERT INTO numbers (n) VALUES (?)", [[number] for number in numbers])

    def number(self, value: Any) -> int:
        return int(value["n"])


class TestIncrementing(SourceContract):
    @pytest.fixture
    def source(self, tables: Tables) -> SourceUnderTest:
        return PostgresTable(tables, mode="incrementing")


@pytest.mark.heavy
class TestTimestamp(SourceContract):
    @pytest.fixture
    def source(self, tables: Tables) -> SourceUnderTest:
        return PostgresTable(tables, mode="timestamp", timestamp_column_name="changed")


class TestTimestampIncrementing(SourceContract):
    @pytest.fixture
    def source(self, tables: Tables) -> SourceUnderTest:
        return PostgresTable(tables, mode="timestamp+incrementing", timestamp_column_name="changed")


@pytest.mark.heavy
class TestQuery(SourceContract):
    @pytest.fixture
    def source(self, tables: Tables) -> SourceUnderTest:
        query = f"SELECT id AS number_of_row, n FROM {tables.schema}.numbers WHERE n >= 0"
        return PostgresTable(
            tables, mode="incrementing", incrementing_column_name="number_of_row", query=query
        )


class TestSqlite(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> SourceUnderTest:
        return SqliteTable(tmp_path / "numbers.db")
