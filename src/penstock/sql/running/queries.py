"""Queries at work: once over what is there, or on and on over what comes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from penstock.sql.catalog.source import Source
from penstock.sql.errors import NotSupportedYet, StatementError
from penstock.sql.planning.decoding import rows_of
from penstock.sql.planning.queries import Plan, planned, refuse_unless_stateless
from penstock.sql.planning.spark_types import sql_type
from penstock.sql.running import reading
from penstock.sql.running.home import Home
from penstock.sql.running.results import Lines, Result, Rows
from penstock.sql.statements.queries import Explain, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAUSE_SECONDS = 0.5
RESET = "auto.offset.reset"


def select(home: Home, query: Query, properties: Mapping[str, str]) -> Rows:
    """The rows of a query; with EMIT CHANGES there is no end, unless there is a LIMIT."""
    return _push(home, query, properties) if query.emit else _pull(home, query)


def explain(home: Home, statement: Explain) -> Result:
    """Spark's plan of a query."""
    if statement.query is None:
        raise NotSupportedYet("EXPLAIN of a persistent query")
    result = _once(home, home.spark(), planned(statement.query, home.catalog.source))
    text = result._jdf.queryExecution().toString()
    return Result({"@type": "queryDescription", "executionPlan": text}, (Lines(text),))


def _pull(home: Home, query: Query) -> Rows:
    plan = planned(query, home.catalog.source)
    result = _once(home, home.spark(), plan)
    return Rows(*_schema(result), _fetched(result), "Query Completed")


def _once(home: Home, spark: SparkSession, plan: Plan) -> DataFrame:
    admin = home.catalog.admin
    for view, source in plan.views.items():
        starts = reading.beginnings(admin, source.topic)
        stops = reading.ends(admin, source.topic)
        _view(home, spark, view, source, (starts, stops), latest=source.kind == "TABLE")
    return analysed(spark, plan.text)


def _view(
    home: Home,
    spark: SparkSession,
    view: str,
    source: Source,
    span: tuple[reading.Offsets, reading.Offsets],
    *,
    latest: bool,
) -> None:
    raw = f"{view}_raw"
    frame = reading.frame(spark, home.connection(), source.topic, *span)
    frame.createOrReplaceTempView(raw)
    analysed(spark, rows_of(source, raw, latest=latest)).createOrReplaceTempView(view)


def analysed(spark: SparkSession, text: str) -> DataFrame:
    """A frame; StatementError with what Spark says about types and names."""
    with _spark_errors():
        return spark.sql(text)


@contextmanager
def _spark_errors() -> Iterator[None]:
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        first = str(error.getMessage() or error).strip().splitlines()[0]
        raise StatementError(f"Spark cannot run this query: {first}") from None


def _schema(frame: DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (
        tuple(field.name for field in frame.schema.fields),
        tuple(sql_type(field.dataType.simpleString()) for field in frame.schema.fields),
    )


def _fetched(frame: DataFrame) -> Iterator[Sequence[Any]]:
    with _spark_errors():
        for row in frame.toLocalIterator():
            yield tuple(_plain(value) for value in row)


def _plain(value: Any) -> Any:
    """Structs as objects with names."""
    if hasattr(value, "asDict"):
        return {name: _plain(each) for name, each in value.asDict().items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value


def _push(home: Home, query: Query, properties: Mapping[str, str]) -> Rows:
    refuse_unless_stateless(query)
    limit, spark = query.limit, home.spark()
    plan = planned(replace(query, limit=None), home.catalog.source)
    (view, source), admin = next(iter(plan.views.items())), home.catalog.admin
    earliest = properties.get(RESET, "latest").lower() == "earliest"
    ends = reading.ends(admin, source.topic)
    begin = reading.beginnings(admin, source.topic) if earliest else ends
    # Over nothing: what is wrong with the query is said at once, and its columns are known.
    _view(home, spark, view, source, (ends, ends), latest=False)
    schema = _schema(analysed(spark, plan.text))
    rows = _changes(home, spark, plan, begin)
    note = "Limit Reached" if limit is not None else "Query terminated"
    return Rows(*schema, rows if limit is None else islice(rows, limit), note)


def _changes(
    home: Home, spark: SparkSession, plan: Plan, begin: reading.Offsets
) -> Iterator[Sequence[Any]]:
    """Rows of one range after another; an empty range costs no job."""
    (view, source), at = next(iter(plan.views.items())), begin
    while True:
        ends = reading.ends(home.catalog.admin, source.topic)
        if ends == at:
            time.sleep(PAUSE_SECONDS)
            continue
        _view(home, spark, view, source, (at, ends), latest=False)
        yield from _fetched(analysed(spark, plan.text))
        at = ends
