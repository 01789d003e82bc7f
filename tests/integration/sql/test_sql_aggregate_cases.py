"""Queries with aggregates of the data files, turn by turn, through the real planner and Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from pyspark.sql import SparkSession

from aggregate_cases import CASES, Turns, shown
from penstock.engine.frames.shuffles import refuse_shuffles
from penstock.runtime.worker import Worker
from penstock.sdk.frames import FrameTurn
from penstock.sql.errors import SqlError
from penstock.sql.persistent.turns import QueryTurns
from penstock.sql.running.home import Home
from persistent_cases import BY_SPARK, query_of, records
from query_cases import title

pytestmark = pytest.mark.heavy


def case_of(wanted: str) -> dict[str, Any]:
    """The case of that title."""
    (found,) = [case for case in CASES if case["title"] == wanted]
    return found


@pytest.fixture
def spark(worker: Worker) -> SparkSession:
    """As a query has it."""
    session = worker.herder._context.engine.session
    return Home(MagicMock(), MagicMock(), session.get).spark()


@pytest.mark.parametrize("case", [case for case in CASES if "turns" in case], ids=title)
def test_a_query_keeps_its_groups(
    spark: SparkSession, case: dict[str, Any], tmp_path: Path
) -> None:
    turns = Turns(spark, case, tmp_path)
    for turn in case["turns"]:
        out = turns.run(turn["in"])
        good = [row for row in out if row.error is None]
        assert sorted(shown(turns.query, row) for row in good) == sorted(
            wanted[:2] for wanted in turn["out"]
        )
        times = {shown(turns.query, row)[0]: int(row.timestamp.timestamp() * 1000) for row in good}
        assert times == times | {key: time[0] for key, _, *time in turn["out"] if time}
        assert sorted(r.error for r in out if r.error) == sorted(turn.get("errors", []))
        assert {row.task for row in out} <= {7}


@pytest.mark.parametrize("case", [case for case in CASES if "columns" in case], ids=title)
def test_a_query_gives_these_columns(spark: SparkSession, case: dict[str, Any]) -> None:
    columns = query_of(spark, case).sink.columns
    assert ", ".join(f"{c.name} {c.type} {c.role}".strip() for c in columns) == case["columns"]


@pytest.mark.parametrize("case", [c for c in CASES if c.get("says", "").startswith(BY_SPARK)])
def test_a_query_that_cannot_be_is_told(spark: SparkSession, case: dict[str, Any]) -> None:
    with pytest.raises(SqlError) as caught:
        query_of(spark, case)
    assert case["says"] in str(caught.value)


def test_offsets_that_were_set_back_begin_a_new_count(spark: SparkSession, tmp_path: Path) -> None:
    turns = Turns(spark, case_of("counts go on from turn to turn"), tmp_path)
    turns.run([["x", {"a": 1}], ["x", {"a": 1}], ["y", {"a": 1}]])
    turns.offsets[0] = 1
    (row,) = turns.run([["x", {"a": 1}]])
    assert shown(turns.query, row) == ["x", {"N": 1}]
    (row,) = turns.run([["x", {"a": 1}]])
    assert shown(turns.query, row) == ["x", {"N": 2}]
    assert turns.stored() == 1, "what was kept before is deleted"


def test_windows_are_deleted_when_no_row_can_be_theirs(spark: SparkSession, tmp_path: Path) -> None:
    turns = Turns(spark, case_of("a row that is too late is skipped and told"), tmp_path)
    turns.run([["x", {"a": 1}, 1000], ["y", {"a": 1}, 1000]])
    turns.run([["x", {"a": 1}, 11_000]])
    assert turns.stored() == 3
    turns.run([["x", {"a": 1}, 15_000]])
    turns.run([["x", {"a": 1}, 16_000]])
    assert turns.stored() == 1


def test_sessions_are_deleted_when_no_row_can_be_theirs(
    spark: SparkSession, tmp_path: Path
) -> None:
    turns = Turns(
        spark, case_of("a row that is too late for a session is skipped and told"), tmp_path
    )
    turns.run([["x", {"a": 1}, 1000], ["y", {"a": 1}, 1000]])
    turns.run([["x", {"a": 1}, 16_000]])
    assert turns.stored() == 3
    turns.run([["x", {"a": 1}, 16_001]])
    turns.run([["x", {"a": 1}, 16_002]])
    assert turns.stored() == 1


def test_a_window_that_has_come_out_is_deleted(spark: SparkSession, tmp_path: Path) -> None:
    for each in ("a final row of a tumbling window", "final rows of sessions"):
        turns = Turns(spark, case_of(each), tmp_path / each)
        turns.run([["x", {"a": 1}, 1000], ["y", {"a": 1}, 1000]])
        assert turns.stored() == 2
        turns.run([["x", {"a": 1}, 90_000]])
        assert turns.stored() == 1


def test_offsets_of_a_table_that_were_set_back_begin_a_new_count(
    spark: SparkSession, tmp_path: Path
) -> None:
    turns = Turns(spark, case_of("a row that changes is taken out of its group"), tmp_path)
    turns.run([["x", {"t": "a", "a": 1}], ["y", {"t": "a", "a": 1}]])
    turns.offsets[0] = 0
    (row,) = turns.run([["x", {"t": "a", "a": 5}]])
    assert shown(turns.query, row) == ["a", {"N": 1, "S": 5, "M": None}]
    (row,) = turns.run([["x", {"t": "a", "a": 6}]])
    assert shown(turns.query, row) == ["a", {"N": 1, "S": 6, "M": None}]


@pytest.mark.parametrize(
    "title",
    [
        "counts go on from turn to turn",
        "hopping windows",
        "sessions",
        "a final row of a tumbling window",
        "final rows of sessions",
        "a row that changes is taken out of its group",
    ],
)
def test_a_large_turn_over_one_partition_needs_no_shuffle(
    spark: SparkSession, tmp_path: Path, title: str
) -> None:
    query = query_of(spark, case_of(title))
    frame = records(spark, query.sources[0].topic, []).coalesce(1)
    refuse_shuffles(QueryTurns(query, str(tmp_path)).build(frame, FrameTurn("Q", ())))
