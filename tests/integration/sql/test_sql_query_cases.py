"""The queries of the data file, through the real planner and Spark."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from penstock.runtime.worker import Worker
from penstock.sql.catalog.source import Source
from penstock.sql.errors import SqlError, StatementError
from penstock.sql.grammar.parser import parse
from penstock.sql.planning.decoding import rows_of
from penstock.sql.planning.queries import planned
from penstock.sql.running.home import Home
from penstock.sql.running.queries import _fetched, analysed
from penstock.sql.statements.queries import Select
from penstock.sql.statements.sources import CreateSource
from project_scripts import ROOT

CASES = yaml.safe_load((ROOT / "tests/data/sql/queries.yaml").read_text())
RAW = (
    "key binary, value binary, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>"
)


def declared(text: str) -> Source:
    statement = parse(text)
    assert isinstance(statement, CreateSource)
    given = {key.upper(): value or "" for key, value in statement.properties}
    form = given.get("VALUE_FORMAT", "JSON")
    return Source(
        statement.kind, statement.name, given["KAFKA_TOPIC"], statement.columns, value_format=form
    )


def content(value: Any) -> bytes | None:
    if value is None:
        return None
    raw = isinstance(value, str) and value.startswith("!")
    return value[1:].encode() if raw else json.dumps(value).encode()


def recorded(spark: SparkSession, view: str, records: list[Any]) -> None:
    rows = [
        (None if key is None else bytearray(key.encode()), content(value), 0, n, 1.0 + n / 1000)
        for n, (key, value) in enumerate(records)
    ]
    columns = "key binary, value binary, partition int, offset bigint, seconds double"
    frame = spark.createDataFrame(rows, columns)
    frame.selectExpr(
        "key",
        "value",
        "partition",
        "offset",
        "CAST(seconds AS TIMESTAMP) AS timestamp",
        "CAST(NULL AS array<struct<key:string,value:binary>>) AS headers",
    ).createOrReplaceTempView(view)


def asked(spark: SparkSession, case: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    sources = {s.name: s for s in (declared(each["declare"]) for each in case["sources"])}
    records = {declared(each["declare"]).name: each["records"] for each in case["sources"]}

    def find(name: str) -> Source:
        if name not in sources:
            raise StatementError(f"There is no stream or table {name}.")
        return sources[name]

    select = parse(case["sql"])
    assert isinstance(select, Select)
    plan = planned(select.query, find)
    for view, source in plan.views.items():
        recorded(spark, f"{view}_raw", records[source.name])
        text = rows_of(source, f"{view}_raw", latest=source.kind == "TABLE")
        analysed(spark, text).createOrReplaceTempView(view)
    frame = analysed(spark, plan.text)
    return frame.columns, [[plain(v) for v in row] for row in _fetched(frame)]


def plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | list | None) else str(value)


def in_order(rows: list[list[Any]], query: str) -> list[list[Any]]:
    return rows if "ORDER BY" in query else sorted(rows, key=str)


@pytest.mark.heavy
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"].replace(" ", "-"))
def test_a_query_gives_these_rows(worker: Worker, case: dict[str, Any]) -> None:
    engine = worker.herder._context.engine
    spark = Home(None, None, engine.session.get).spark()  # type: ignore[arg-type] # Spark is all
    if "says" in case:
        with pytest.raises(SqlError) as caught:
            asked(spark, case)
        assert case["says"] in str(caught.value)
        return
    columns, rows = asked(spark, case)
    assert in_order(rows, case["sql"]) == in_order(case["rows"], case["sql"])
    assert columns == case.get("columns", columns)
