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


NUMBERS = "CREATE STREAM n (k VARCHAR KEY, x INT) WITH (kafka_topic='n')"
TEXTS = (
    "CREATE TABLE t (id VARCHAR PRIMARY KEY, x VARCHAR, o STRUCT<y VARCHAR, z INT>, "
    "l ARRAY<VARCHAR>, m MAP<VARCHAR, INT>) WITH (kafka_topic='t')"
)


@pytest.mark.parametrize(
    ("item", "form"),
    [
        ("n.x + 1", "try_add"),
        ("t.x + t.x", "concat"),
        ("o->y + o->y", "concat"),
        ("o->z + 1", "try_add"),
        ("l[1] + l[2]", "concat"),
        ("m['a'] + 1", "try_add"),
        ("CASE WHEN TRUE THEN t.x END + t.x", "concat"),
        ("(SELECT a + b FROM (SELECT t.x AS a, UCASE(t.x) AS b FROM t))", "concat"),
        ("(SELECT p->y + p->y FROM (SELECT o AS p FROM t))", "concat"),
        ("(SELECT s.p->z + 1 FROM (SELECT t.o AS p FROM t) s)", "try_add"),
        ("(SELECT t_x + t_x FROM (SELECT * FROM n JOIN t ON n.k = t.id))", "concat"),
        ("(SELECT n_x + 1 FROM (SELECT * FROM n JOIN t ON n.k = t.id))", "try_add"),
    ],
)
def test_plus_joins_what_is_text_and_adds_what_is_not(item: str, form: str) -> None:
    sources = [{"declare": each, "records": []} for each in (NUMBERS, TEXTS)]
    sql = f"SELECT {item} FROM n JOIN t ON n.k = t.id"  # noqa: S608 - what is tested
    chosen = {each for each in ("try_add(", "concat(") if each in plan_of_sources(sources, sql)}
    assert chosen == {f"{form}("}


def plan_of_sources(sources: list[dict[str, Any]], sql: str) -> str:
    return plan_of({"sources": sources, "sql": sql}).text
