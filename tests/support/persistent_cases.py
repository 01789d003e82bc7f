"""The persistent queries of tests/data/sql/persistent*.yaml, on frames without Kafka."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from penstock.sdk.frames import FrameTurn
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.catalog.source import Source
from penstock.sql.errors import StatementError, nearest
from penstock.sql.grammar.parser import parse
from penstock.sql.persistent.columns import columns_of_query
from penstock.sql.persistent.turns import QueryTurns
from penstock.sql.planning.persistent import PersistentPlan, planned_persistent
from penstock.sql.running.persistent import _check_output, _refuse_kind, _sink
from penstock.sql.statements.queries import CreateAs
from project_scripts import ROOT
from query_cases import declared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = sorted((ROOT / "tests/data/sql").glob("persistent*.yaml"))
CASES: list[dict[str, Any]] = [case for file in FILES for case in yaml.safe_load(file.read_text())]
RECORDS = (
    "task int, key binary, value binary, topic string, partition int, offset bigint, ms bigint"
)
BY_SPARK = ("Spark cannot run", "types don't match", "JSON_SCHEMAS_ENABLE", "KEY_FORMAT")
"""What is found wrong only after Spark was asked."""
HEADERS = "CAST(NULL AS array<struct<key:string,value:binary>>) AS headers"


class OnlySpark:
    """Of a home, what a sink asks."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = lambda: spark

    def refuse_closed(self, topic: str) -> None:
        """All are open."""


def statement_of(case: dict[str, Any]) -> CreateAs:
    """Its statement."""
    statement = parse(case["sql"])
    assert isinstance(statement, CreateAs)
    return statement


def plan_of(case: dict[str, Any]) -> PersistentPlan:
    """SqlError where it is refused."""
    sources = {s.name: s for s in (declared(each["declare"]) for each in case["sources"])}

    def find(name: str) -> Source:
        if name not in sources:
            raise StatementError(f"There is no stream or table {name}.{nearest(name, sources)}")
        return sources[name]

    statement = statement_of(case)
    plan = planned_persistent(statement.query, find, statement.name)
    _refuse_kind(plan, statement.kind)
    return plan


def query_of(spark: SparkSession, case: dict[str, Any]) -> PersistentQuery:
    """As it would be stored."""
    plan = plan_of(case)
    home: Any = OnlySpark(spark)
    sink = _sink(home, statement_of(case), plan, columns_of_query(spark, plan))
    _check_output(home, plan, sink)
    query = PersistentQuery("Q", case["sql"], plan.sources, sink)
    return PersistentQuery.of_config(query.connector_config(1))


def content(value: Any) -> bytes | None:
    """The bytes of a value: JSON, or a text after an exclamation mark."""
    if value is None:
        return None
    raw = isinstance(value, str) and value.startswith("!")
    return value[1:].encode() if raw else json.dumps(value).encode()


def records(spark: SparkSession, topic: str, given: list[list[Any]]) -> DataFrame:
    """Records of partition 0, as the worker reads them."""
    rows = [
        (
            7,
            None if key is None else bytearray(key.encode()),
            content(value),
            topic,
            0,
            offset,
            *(time or [1000 + offset]),
        )
        for offset, (key, value, *time) in enumerate(given)
    ]
    frame = spark.createDataFrame(rows, RECORDS)
    return frame.selectExpr("*", "timestamp_millis(ms) AS timestamp", HEADERS).drop("ms")


def turned(spark: SparkSession, case: dict[str, Any], turn: FrameTurn) -> list[Any]:
    """The rows that come out of one turn over all records of the first source."""
    query = query_of(spark, case)
    frame = records(spark, query.sources[0].topic, case["sources"][0]["records"])
    return QueryTurns(query).build(frame, turn).collect()


def shown(value: Any, wanted: Any) -> Any:
    """The bytes of a value in the form of what is wanted."""
    if value is None:
        return None
    if isinstance(wanted, str):
        return f"hex:{value.hex()}" if wanted.startswith("hex:") else f"!{value.decode()}"
    return json.loads(value)
