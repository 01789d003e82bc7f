"""The contract kit, with tables of PostgreSQL as the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from penstock.plugins.databases.jdbc_sink import JdbcSinkConnector
from penstock.sdk import Schema, SinkConnector
from penstock.sdk.testing import SinkContract, SinkUnderTest
from tables import Tables


class PostgresTable(SinkUnderTest):
    """Rows are added, so a record that is written again shows."""

    connector: ClassVar[type[SinkConnector]] = JdbcSinkConnector
    value_schema: ClassVar[Schema | None] = Schema.struct(
        {"n": Schema.int32(), "note": Schema.string(optional=True)}
    )
    partitions: ClassVar[int] = 3

    def __init__(self, tables: Tables, **more: str) -> None:
        self._tables, self._more = tables, more

    def config(self) -> Mapping[str, str]:
        return {
            **self._tables.config(auto_create="true", **self._more),
            "name": "kit",
            "table.name.format": f"{self._tables.schema}.${{topic}}",
            "offsets.table": f"{self._tables.schema}.offsets",
        }

    def value(self, number: int) -> Any:
        return {"n": number, "note": None}

    def bad_value(self) -> Any:
        return {"n": -1, "note": "PostgreSQL takes no \0"}

    def written(self) -> list[int]:
        found = self._tables.run("SELECT to_regclass('numbers') IS NOT NULL")
        return [n for (n,) in self._tables.run("SELECT n FROM numbers")] if found[0][0] else []


class TestInsert(SinkContract):
    @pytest.fixture
    def sink(self, tables: Tables) -> SinkUnderTest:
        return PostgresTable(tables)


class KeyedTable(PostgresTable):
    """Each row has its own key."""

    replaces: ClassVar[bool] = True


@pytest.mark.heavy
class TestUpsert(SinkContract):
    @pytest.fixture
    def sink(self, tables: Tables) -> SinkUnderTest:
        return KeyedTable(tables, insert_mode="upsert", pk_mode="record_value", pk_fields="n")
