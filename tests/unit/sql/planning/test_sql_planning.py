"""Queries are planned, or refused, before Spark is asked."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.sql.errors import SqlError
from penstock.sql.planning.decoding import rows_of
from query_cases import CASES, plan_of, title


@pytest.mark.parametrize("case", [case for case in CASES if "says" in case], ids=title)
def test_what_is_wrong_with_a_query_is_told(case: dict[str, Any]) -> None:
    with pytest.raises(SqlError) as caught:
        plan_of(case)
    assert case["says"] in str(caught.value)


@pytest.mark.parametrize("case", [case for case in CASES if "rows" in case], ids=title)
def test_a_query_is_planned_over_views_of_its_sources(case: dict[str, Any]) -> None:
    plan = plan_of(case)
    assert plan.views
    for view, source in plan.views.items():
        assert f" {view} AS " in plan.text
        assert f"{view}_raw" in rows_of(source, f"{view}_raw", latest=source.kind == "TABLE")


def test_what_could_fail_is_asked_for_in_forms_that_give_null() -> None:
    sources = next(case["sources"] for case in CASES if case["title"] == "a projection")
    query = "SELECT a + 1 - 2 * 3 / b % 4, CAST(t AS INT), ARRAY[1][2], SUM(a), AVG(a) FROM s"
    text = plan_of({"sources": sources, "sql": query}).text
    for form in (
        "add",
        "subtract",
        "multiply",
        "divide",
        "mod",
        "cast",
        "element_at",
        "sum",
        "avg",
    ):
        assert f"try_{form}(" in text
