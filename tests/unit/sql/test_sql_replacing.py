"""CREATE OR REPLACE … AS SELECT: what may change of a query, and what is left of a failure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from penstock.client import ConnectApiError
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.catalog.source import Source
from penstock.sql.errors import StatementError
from penstock.sql.running.home import Home
from penstock.sql.running.replacing import replaceable, replaced
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import VARCHAR, ColumnDef, SqlType
from persistent_cases import plan_of
from played_connect import PlayedConnect

DECLARED = "CREATE STREAM s (k VARCHAR KEY, n INT) WITH (kafka_topic='s')"
PLAN = plan_of(
    {"sources": [{"declare": DECLARED}], "sql": "CREATE STREAM o AS SELECT k, n AS m FROM s"}
)
COLUMNS = (ColumnDef("K", VARCHAR, "KEY"), ColumnDef("M", SqlType("INTEGER")))
SINK = Source(SourceKind.STREAM, "O", "o", COLUMNS, with_schema=True, statement="the earlier one")
QUERY = PersistentQuery("CSAS_O_1", "the earlier one", PLAN.sources, SINK)


class PlayedCatalog:
    """Of a catalog, what a replacement changes."""

    def __init__(self) -> None:
        self.stored = {"O": SINK}
        self.kept = {QUERY.id: QUERY}

    def queries(self) -> dict[str, PersistentQuery]:
        return self.kept

    def put(self, source: Source) -> int:
        self.stored[source.name] = source
        return 1

    def put_query(self, query: PersistentQuery) -> int:
        self.kept[query.id] = query
        return 2


class PlayedHome:
    """Of a home, what a replacement asks."""

    def __init__(self) -> None:
        self.catalog = PlayedCatalog()
        self.connect = PlayedConnect()


@pytest.fixture
def home() -> PlayedHome:
    return PlayedHome()


def replacing(home: PlayedHome, taken: Source, **changes: Any) -> PersistentQuery:
    """The query that may be replaced, so that its sink has these changes."""
    return replaceable(cast(Home, home), taken, PLAN, replace(SINK, **changes))


def test_further_columns_and_another_statement_may_come(home: PlayedHome) -> None:
    more = (*COLUMNS, ColumnDef("N", VARCHAR))
    assert replacing(home, SINK, columns=more, statement="another") == QUERY


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "o"}, "its name is O."),
        ({"topic": "p"}, "its topic is o."),
        ({"kind": SourceKind.TABLE}, "it is a STREAM."),
        ({"value_format": "AVRO"}, "its VALUE_FORMAT is JSON."),
        ({"key_format": "JSON"}, "its KEY_FORMAT is KAFKA."),
        ({"delimiter": "|"}, "its VALUE_DELIMITER is ,."),
        ({"timestamp": "M"}, "its TIMESTAMP is not set."),
        ({"with_schema": False}, "its JSON_SCHEMAS_ENABLE is true."),
        ({"columns": COLUMNS[:1]}, "its columns M INTEGER have to come first"),
        ({"columns": (COLUMNS[0], ColumnDef("M", VARCHAR))}, "its columns M INTEGER have to"),
        ({"columns": COLUMNS[1:]}, "its key is K VARCHAR."),
    ],
)
def test_what_readers_rely_on_may_not_change(
    home: PlayedHome, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(StatementError) as caught:
        replacing(home, SINK, **changes)
    assert f"Cannot replace O: {told}" in str(caught.value)


def test_a_column_that_was_added_to_the_sink_has_to_stay(home: PlayedHome) -> None:
    altered = replace(SINK, columns=(*COLUMNS, ColumnDef("LATER", VARCHAR)))
    with pytest.raises(StatementError, match="M INTEGER, LATER VARCHAR have to come first"):
        replacing(home, altered)


def test_a_replacement_that_cannot_run_leaves_all_as_it_was(
    home: PlayedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    altered = replace(SINK, columns=(*COLUMNS, ColumnDef("LATER", VARCHAR)))
    home.catalog.put(altered)
    now = replace(altered, statement="another")

    def refuse(name: str, config: dict[str, str]) -> None:
        assert home.catalog.stored["O"] == now, "it is stored before it runs"
        raise ConnectApiError(409, "there is a rebalance")

    monkeypatch.setattr(home.connect, "put_config", refuse)
    with pytest.raises(ConnectApiError):
        replaced(cast(Home, home), altered, QUERY, replace(QUERY, sink=now), {})
    assert home.catalog.stored == {"O": altered}
    assert home.catalog.kept == {QUERY.id: QUERY}
