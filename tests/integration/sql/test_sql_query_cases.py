"""The queries of the data file, through the real planner and Spark."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import MagicMock

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from penstock.runtime.worker import Worker
from penstock.sql.planning.decoding import rows_of
from penstock.sql.running.home import Home
from penstock.sql.running.queries import _fetched
from penstock.sql.running.results import Stop
from penstock.sql.running.views import Skipped, analysed
from query_cases import CASES, declared, plan_of, records_of, title
from topics import Topics
from typing_sql import Typing


def content(value: Any) -> bytes | None:
    if value is None:
        return None
    raw = isinstance(value, str) and value.startswith("!")
    return value[1:].encode() if raw else json.dumps(value).encode()


def recorded(spark: SparkSession, view: str, records: list[Any]) -> None:
    rows = [
        (None if key is None else bytearray(key.encode()), content(value), 0, n, 1000 + n)
        for n, (key, value) in enumerate(records)
    ]
    columns = "key binary, value binary, partition int, offset bigint, ms bigint"
    frame = spark.createDataFrame(rows, columns)
    frame.selectExpr(
        "key",
        "value",
        "partition",
        "offset",
        "timestamp_millis(ms) AS timestamp",
        "CAST(NULL AS array<struct<key:string,value:binary>>) AS headers",
    ).createOrReplaceTempView(view)


def asked(spark: SparkSession, case: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    plan = plan_of(case)
    for view, source in plan.views.items():
        recorded(spark, f"{view}_raw", records_of(case, source))
        text = rows_of(source, f"{view}_raw", latest=source.kind == "TABLE")
        analysed(spark, text).createOrReplaceTempView(view)
    frame = analysed(spark, plan.text)
    return frame.columns, [[plain(v) for v in row] for row in _fetched(frame, Stop(), Skipped())]


def plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | list | None) else str(value)


def in_order(rows: list[list[Any]], query: str) -> list[list[Any]]:
    return rows if "ORDER BY" in query else sorted(rows, key=str)


@pytest.fixture
def spark(worker: Worker) -> SparkSession:
    """As a query has it."""
    session = worker.herder._context.engine.session
    return Home(MagicMock(), MagicMock(), session.get).spark()


@pytest.mark.heavy
@pytest.mark.parametrize("case", [case for case in CASES if "rows" in case], ids=title)
def test_a_query_gives_these_rows(spark: SparkSession, case: dict[str, Any]) -> None:
    columns, rows = asked(spark, case)
    assert in_order(rows, case["sql"]) == in_order(case["rows"], case["sql"])
    assert columns == case.get("columns", columns)


SAMPLE = [case for case in CASES if "rows" in case and "rowtime" not in case["sql"]][::24]


@pytest.mark.heavy
@pytest.mark.parametrize("case", SAMPLE, ids=title)
def test_some_give_the_same_rows_from_kafka(
    typed: Typing, topics: Topics, name: str, case: dict[str, Any]
) -> None:
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    for each in case["sources"]:
        topic = f"{name}-{declared(each['declare']).topic}"
        where = f"kafka_topic='{topic}', partitions=1"
        typed(each["declare"].replace(f"kafka_topic='{declared(each['declare']).topic}'", where))
        for key, value in each["records"]:
            producer.produce(topic, content(value), None if key is None else key.encode())
    assert not producer.flush(30)
    rows = [[plain(value) for value in row] for row in typed.rows(f"{case['sql']};")]
    assert in_order(rows, case["sql"]) == in_order(case["rows"], case["sql"])
