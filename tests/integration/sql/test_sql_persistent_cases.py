"""The persistent queries of the data files, through the real planner and Spark."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from pyspark.sql import SparkSession

from penstock.engine.frames.shuffles import refuse_shuffles
from penstock.runtime.worker import Worker
from penstock.sdk.frames import FrameTurn
from penstock.sql.errors import SqlError
from penstock.sql.persistent.turns import QueryTurns
from penstock.sql.running.home import Home
from persistent_cases import BY_SPARK, CASES, query_of, records, shown, turned
from query_cases import title

STATELESS = [case for case in CASES if " JOIN " not in case["sql"]]


@pytest.fixture
def spark(worker: Worker) -> SparkSession:
    """As a query has it."""
    session = worker.herder._context.engine.session
    return Home(MagicMock(), MagicMock(), session.get).spark()


@pytest.mark.heavy
@pytest.mark.parametrize("case", [case for case in STATELESS if "out" in case], ids=title)
def test_a_query_writes_these_records(spark: SparkSession, case: dict[str, Any]) -> None:
    rows = turned(spark, case, FrameTurn("Q", ()))
    good = [row for row in rows if row.error is None]
    assert [
        [None if r.key is None else r.key.decode(), *rest(r, w)] for r, w in pairs(good, case)
    ] == (case["out"])
    assert [row.error for row in rows if row.error is not None] == case.get("errors", [])
    assert {row.task for row in rows} <= {7}
    assert {row.topic for row in good} <= {"O"}


def pairs(rows: list[Any], case: dict[str, Any]) -> list[tuple[Any, Any]]:
    wanted = [*case["out"], *([None] * len(rows))]
    return list(zip(rows, wanted, strict=False))


def rest(row: Any, wanted: Any) -> list[Any]:
    value = shown(None if row.value is None else bytes(row.value), wanted and wanted[1])
    with_time = wanted and len(wanted) > 2
    return [value, int(row.timestamp.timestamp() * 1000)] if with_time else [value]


@pytest.mark.heavy
@pytest.mark.parametrize("case", [case for case in CASES if "columns" in case], ids=title)
def test_a_query_gives_these_columns(spark: SparkSession, case: dict[str, Any]) -> None:
    columns = query_of(spark, case).sink.columns
    assert ", ".join(f"{c.name} {c.type} {c.role}".strip() for c in columns) == case["columns"]


@pytest.mark.heavy
@pytest.mark.parametrize("case", [c for c in CASES if c.get("says", "").startswith(BY_SPARK)])
def test_a_query_that_cannot_be_is_told(spark: SparkSession, case: dict[str, Any]) -> None:
    with pytest.raises(SqlError) as caught:
        query_of(spark, case)
    assert case["says"] in str(caught.value)


@pytest.mark.heavy
def test_a_turn_moves_no_record_and_leaves_no_view(spark: SparkSession) -> None:
    case = STATELESS[0]
    query = query_of(spark, case)
    frame = records(spark, "s", case["sources"][0]["records"])
    turns = QueryTurns(query)
    built = turns.build(frame, FrameTurn("Q", ()))
    refuse_shuffles(built)
    assert built.sparkSession.catalog.listTables() == []
    assert turns.build(frame, FrameTurn("Q", ())).sparkSession is built.sparkSession
