"""The columns that a query gives, with the types that Spark finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.sql.errors import StatementError
from penstock.sql.persistent.aggregating import kept_columns, kept_of_row, kept_pane
from penstock.sql.planning.aggregate_text import (
    STREAM_TIMES,
    grouped,
    results,
    without_keys,
    without_state,
)
from penstock.sql.planning.pair_text import PAIR_COLUMNS, compared
from penstock.sql.planning.pane_text import (
    pane_results,
    session_parts,
    session_rows,
    time_parts,
    without_panes,
    without_sessions,
)
from penstock.sql.planning.persistent import PersistentPlan
from penstock.sql.planning.spark_types import declared_type
from penstock.sql.planning.table_group_text import last_rows, regrouped, without_rows
from penstock.sql.planning.turn_text import computed, empty_records, keyed
from penstock.sql.planning.windows import SessionWindow
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import ColumnDef

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def columns_of_query(spark: SparkSession, plan: PersistentPlan) -> tuple[ColumnDef, ...]:
    """Keys first; StatementError with what Spark says about types, or if a join's do not match."""
    if plan.join is not None:
        _refuse_types(spark, plan)
    if plan.pairing is not None:
        _refuse_other_types(spark, plan)
    frame = analysed(spark, _results(spark, plan))
    role = "PRIMARY KEY" if plan.kind is SourceKind.TABLE else "KEY"
    return tuple(
        ColumnDef(each.name, declared_type(field.dataType), role if each.is_key else "")
        for each, field in zip(plan.outputs, frame.schema.fields, strict=True)
    )


def _results(spark: SparkSession, plan: PersistentPlan) -> str:
    """What comes out, as a query over nothing."""
    window = plan.aggregation.window if plan.aggregation else None
    more = PAIR_COLUMNS if plan.pairing else STREAM_TIMES if window else {}
    records = empty_records(joined=plan.right is not None, more=more)
    if plan.aggregation is None:
        return computed(plan, records)
    if plan.aggregation.has_panes:
        return _pane_results(spark, plan, records)
    if plan.aggregation.of_table:
        return _table_results(spark, plan, records)
    groups = grouped(plan, records, ())
    kept = kept_columns(analysed(spark, groups))
    return results(plan, without_state(groups), kept)


def _pane_results(spark: SparkSession, plan: PersistentPlan, records: str) -> str:
    if isinstance(plan.aggregation and plan.aggregation.window, SessionWindow):
        rows = without_sessions(session_rows(plan, records, None))
        parts = session_parts(plan, rows, ())
    else:
        parts = time_parts(without_keys(grouped(plan, records, ())))
    kept = kept_pane(analysed(spark, parts))
    return pane_results(plan, without_panes(parts), kept)


def _table_results(spark: SparkSession, plan: PersistentPlan, records: str) -> str:
    last = last_rows(plan, records, ())
    kept_row = kept_of_row(analysed(spark, last))
    groups = regrouped(plan, without_rows(last), kept_row, (), "CAST(NULL AS BINARY)")
    kept = kept_columns(analysed(spark, groups))
    return results(plan, without_state(groups), kept)


def _refuse_types(spark: SparkSession, plan: PersistentPlan) -> None:
    assert plan.join is not None  # noqa: S101 (asked for joins only)
    frame = analysed(spark, keyed(plan, empty_records(joined=False)))
    found, wanted = declared_type(frame.schema.fields[0].dataType), plan.join.table.keys[0]
    if found != wanted.type:
        raise StatementError(
            f"Invalid join condition: types don't match. The key of {plan.join.table.name}, "
            f"{wanted.name}, is {wanted.type}, and what it is compared with is {found}."
        )


def _refuse_other_types(spark: SparkSession, plan: PersistentPlan) -> None:
    records = empty_records(joined=True, more=PAIR_COLUMNS)
    frame = analysed(spark, compared(plan, records))
    left, right = (declared_type(field.dataType) for field in frame.schema.fields)
    if left != right:
        raise StatementError(
            "Invalid join condition: types don't match. What is compared is "
            f"{left} of {plan.sources[0].name}, and {right} of {plan.sources[1].name}."
        )


def analysed(spark: SparkSession, text: str) -> DataFrame:
    """A frame; StatementError with what Spark says about types and names."""
    return told(lambda: spark.sql(text))


def told(make: Callable[[], DataFrame]) -> DataFrame:
    """The frame that ``make`` gives; StatementError with what Spark says about it."""
    from pyspark.errors import PySparkException

    try:
        return make()
    except PySparkException as error:
        first = str(error.getMessage() or error).strip().splitlines()[0]
        raise StatementError(f"Spark cannot run this query: {first}") from None
