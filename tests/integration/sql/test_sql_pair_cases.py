"""Joins of two streams and of two tables of the data files, turn by turn, through Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from pyspark.sql import SparkSession

from pair_cases import CASES, PairTurns, shown
from penstock.engine.frames.shuffles import refuse_shuffles
from penstock.runtime.worker import Worker
from penstock.sdk.frames import FrameTurn
from penstock.sql.errors import SqlError
from penstock.sql.persistent.turns import QueryTurns
from penstock.sql.running.home import Home
from persistent_cases import BY_SPARK, query_of, records
from query_cases import title

pytestmark = pytest.mark.heavy


@pytest.fixture
def spark(worker: Worker) -> SparkSession:
    """As a query has it."""
    session = worker.herder._context.engine.session
    return Home(MagicMock(), MagicMock(), session.get).spark()


@pytest.mark.parametrize("case", [case for case in CASES if "turns" in case], ids=title)
def test_rows_are_joined(spark: SparkSession, case: dict[str, Any], tmp_path: Path) -> None:
    turns = PairTurns(spark, case, tmp_path)
    for turn in case["turns"]:
        given = [turn.get(name, []) for name in ("left", "right", "more")]
        out = turns.run(*given)
        good = [row for row in out if row.error is None]
        wanted = turn.get("out", [])
        assert sorted(map(shown, good), key=str) == sorted((w[:2] for w in wanted), key=str)
        timed = [[*shown(row), int(row.timestamp.timestamp() * 1000)] for row in good]
        assert [each for each in wanted if len(each) > 2 and each not in timed] == []
        assert sorted(r.error for r in out if r.error) == sorted(turn.get("errors", []))
        assert {row.task for row in out} <= {7}
        if "kept" in turn:
            assert turns.stored() == turn["kept"]
        if "rows" in turn:
            assert turns.stored_rows() == turn["rows"]


@pytest.mark.parametrize("case", [case for case in CASES if "columns" in case], ids=title)
def test_a_join_gives_these_columns(spark: SparkSession, case: dict[str, Any]) -> None:
    columns = query_of(spark, case).sink.columns
    assert ", ".join(f"{c.name} {c.type} {c.role}".strip() for c in columns) == case["columns"]


@pytest.mark.parametrize("case", [c for c in CASES if c.get("says", "").startswith(BY_SPARK)])
def test_a_join_that_cannot_be_is_told(spark: SparkSession, case: dict[str, Any]) -> None:
    with pytest.raises(SqlError) as caught:
        query_of(spark, case)
    assert case["says"] in str(caught.value)


def case_of(wanted: str) -> dict[str, Any]:
    """The case of that title."""
    (found,) = [case for case in CASES if case["title"] == wanted]
    return found


def test_a_table_that_is_read_again_leaves_the_other(spark: SparkSession, tmp_path: Path) -> None:
    turns = PairTurns(spark, case_of("rows that both tables have"), tmp_path)
    turns.run([["k", {"x": 1}], ["m", {"x": 2}]], [["k", {"y": 1}], ["m", {"y": 1}]])
    turns.offsets["a", 0] = 0
    assert [*map(shown, turns.run([["k", {"x": 5}]]))] == [["k", {"X": 5, "Y": 1}]]
    out = turns.run([], [["m", {"y": 2}], ["k", {"y": 2}]])
    assert sorted(map(shown, out)) == [["k", {"X": 5, "Y": 2}], ["m", None]], "m was not read again"


def test_streams_that_are_read_again_are_joined_again(spark: SparkSession, tmp_path: Path) -> None:
    turns = PairTurns(spark, case_of("a left join waits until no row can come any more"), tmp_path)
    turns.run([["k", {"x": 1}]], [["k", {"y": 1}, 90_000], ["n", {"y": 2}]])
    assert turns.stored() == 1
    turns.offsets = {("a", 0): 0, ("b", 0): 0}
    assert [*map(shown, turns.run([["k", {"x": 1}]], [["k", {"y": 1}]]))] == [
        ["k", {"X": 1, "Y": 1}]
    ]
    assert turns.stored() == 2, "what was kept before is deleted"


@pytest.mark.parametrize("title", ["rows that are near enough", "rows that both tables have"])
def test_a_large_turn_over_one_partition_needs_no_shuffle(
    spark: SparkSession, tmp_path: Path, title: str
) -> None:
    query = query_of(spark, case_of(title))
    frame = records(spark, query.sources[0].topic, []).coalesce(1)
    refuse_shuffles(QueryTurns(query, str(tmp_path)).build(frame, FrameTurn("Q", ())))
