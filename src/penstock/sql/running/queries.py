"""Running queries: once over what is there, or continuously over what comes."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from penstock.sql.grammar.parser import parse
from penstock.sql.planning.queries import Plan, planned, refuse_unless_stateless
from penstock.sql.planning.spark_types import sql_type
from penstock.sql.running import reading
from penstock.sql.running.home import Home
from penstock.sql.running.persistent import explained
from penstock.sql.running.query_changes import facts, named
from penstock.sql.running.results import Lines, Result, Rows, Stop
from penstock.sql.running.views import Skipped, analysed, spark_errors, view
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.queries import CreateAs, Explain, InsertSelect, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAUSE_SECONDS = 0.5
RESET = "auto.offset.reset"
READ_ONCE = ("spark.sql.shuffle.partitions", "1")
"""To sort into several partitions, Spark first reads everything to find where to divide it. What is
counted meanwhile would be counted twice."""


def select(home: Home, query: Query, properties: Mapping[str, str]) -> Rows:
    """The rows of a query; with EMIT CHANGES there is no end, unless there is a LIMIT."""
    return _push(home, query, properties) if query.emit else _pull(home, query)


def explain(home: Home, statement: Explain) -> Result:
    """Spark's plan of a query."""
    if statement.query is None:
        return _explained_by_id(home, statement.query_id)
    if statement.sink:
        text = explained(home, statement.query, statement.sink)
        return Result(_described(text), (Lines(text),))
    plan = planned(statement.query, home.catalog.source)
    result = _once(home, home.spark(), plan, Skipped())
    text = result._jdf.queryExecution().toString()
    return Result(_described(text), (Lines(text),))


def _explained_by_id(home: Home, id_: str) -> Result:
    query = named(home, id_)
    parsed = parse(query.statement, query.variables)
    assert isinstance(parsed, CreateAs | InsertSelect)  # noqa: S101 (no other is stored)
    return facts(home, query, explained(home, parsed.query, query.sink.name))


def _described(plan: str) -> dict[str, Any]:
    return {"@type": "queryDescription", "queryDescription": {"id": "", "executionPlan": plan}}


def _pull(home: Home, query: Query) -> Rows:
    plan, skipped, stop = planned(query, home.catalog.source), Skipped(), Stop()
    spark = home.spark()
    if plan.ordered:
        spark.conf.set(*READ_ONCE)
    result = _once(home, spark, plan, skipped)
    rows = _fetched(result, stop, skipped, _told(plan))
    return Rows(*_schema(result), rows, "Query Completed", stop, skipped.told)


def _once(home: Home, spark: SparkSession, plan: Plan, skipped: Skipped) -> DataFrame:
    admin = home.catalog.admin
    for name, source in plan.views.items():
        home.refuse_closed(source.topic)
        span = reading.beginnings(admin, source.topic), reading.ends(admin, source.topic)
        columns, latest = plan.columns[name], source.kind is SourceKind.TABLE
        skipped.watch(name, source, columns)
        view(home, spark, name, source, span, latest=latest, columns=columns)
    return analysed(spark, plan.text)


def _schema(frame: DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (
        tuple(field.name for field in frame.schema.fields),
        tuple(sql_type(field.dataType.simpleString()) for field in frame.schema.fields),
    )


def _fetched(
    frame: DataFrame, stop: Stop, skipped: Skipped, description: str = "SQL: a query"
) -> Iterator[Sequence[Any]]:
    with spark_errors(stop):
        try:
            for row in _cancellable(frame, stop, description):
                if stop.is_set():
                    return
                yield tuple(_plain(value) for value in row)
        finally:
            skipped.count(frame)


def _told(plan: Plan) -> str:
    """What Spark's UI shows of it."""
    topics = ", ".join(sorted({source.topic for source in plan.views.values()}))
    return f"SQL: a query of {topics}"[:500]


def _cancellable(frame: DataFrame, stop: Stop, description: str) -> Iterator[Any]:
    """The rows; ``stop`` ends the jobs that make them, which Spark's UI shows so described."""
    context, tag = frame.sparkSession.sparkContext, f"penstock-sql-{uuid.uuid4()}"
    stop.hurry(lambda: _cancel(frame, tag))
    context.addJobTag(tag)
    context.setJobDescription(description)
    try:
        return frame.toLocalIterator()
    finally:
        context.removeJobTag(tag)
        context.setJobDescription("")


def _cancel(frame: DataFrame, tag: str) -> None:
    from py4j.protocol import Py4JError

    with suppress(Py4JError, OSError):  # Spark is gone already
        frame.sparkSession.sparkContext.cancelJobsWithTag(tag)


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
    (name, source), admin = next(iter(plan.views.items())), home.catalog.admin
    home.refuse_closed(source.topic)
    earliest = properties.get(RESET, "latest").lower() == "earliest"
    ends = reading.ends(admin, source.topic)
    begin = reading.beginnings(admin, source.topic) if earliest else ends
    # Over nothing: what is wrong with the query is said at once, and its columns are known.
    view(home, spark, name, source, (ends, ends), latest=False)
    schema = _schema(analysed(spark, plan.text))
    skipped, stop = Skipped(), Stop()
    skipped.watch(name, source, plan.columns[name])
    rows = _Changes(home, spark, plan, stop, skipped).since(begin)
    note = "Limit Reached" if limit is not None else "Query terminated"
    chosen = rows if limit is None else _first(rows, limit)
    return Rows(*schema, chosen, note, stop, skipped.told)


def _first(rows: Generator[Sequence[Any]], limit: int) -> Iterator[Sequence[Any]]:
    with closing(rows):
        yield from islice(rows, limit)


@dataclass(frozen=True)
class _Changes:
    """Rows of one range after another; an empty range costs no job."""

    home: Home
    spark: SparkSession
    plan: Plan
    stop: Stop
    skipped: Skipped

    def since(self, begin: reading.Offsets) -> Generator[Sequence[Any]]:
        (name, source), at = next(iter(self.plan.views.items())), begin
        while not self.stop.is_set():
            ends = reading.ends(self.home.catalog.admin, source.topic)
            if ends == at:
                self.stop.wait(PAUSE_SECONDS)
                continue
            columns = self.plan.columns[name]
            view(self.home, self.spark, name, source, (at, ends), latest=False, columns=columns)
            frame = analysed(self.spark, self.plan.text)
            yield from _fetched(frame, self.stop, self.skipped, _told(self.plan))
            at = ends
