"""A turn of a query with aggregates: a frame of records into a frame of changes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.sql.catalog.source import Source
from penstock.sql.persistent.pane_stages import with_panes, with_sessions
from penstock.sql.persistent.row_stage import with_rows
from penstock.sql.persistent.state_stages import StateAccess, with_state, with_times
from penstock.sql.planning.aggregate_text import NEW, changes, grouped, with_keys
from penstock.sql.planning.aggregates import GROUP, KEPT_ROW
from penstock.sql.planning.pane_text import (
    PARTS,
    pane_changes,
    session_parts,
    session_rows,
    time_parts,
    with_until,
    without_until,
)
from penstock.sql.planning.persistent import PersistentPlan
from penstock.sql.planning.table_group_text import group_key, last_rows, noted, regrouped
from penstock.sql.planning.windows import SessionWindow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def aggregated(
    records: DataFrame, plan: PersistentPlan, sink: Source, state_topic: str, access: StateAccess
) -> DataFrame:
    """The changes that ``records``, one partition of Spark's, make to the groups."""
    if plan.aggregation is not None and plan.aggregation.has_panes:
        return _in_panes(records, plan, sink, state_topic, access)
    if plan.aggregation is not None and plan.aggregation.of_table:
        return _of_table(records, plan, sink, state_topic, access)
    if access.window is not None:
        records = with_times(records, access)
    groups = asked(
        records,
        lambda view: with_keys(plan, sink, grouped(plan, view, access.partitions)),
    )
    kept = kept_columns(groups)
    staged = with_state(groups, access)
    return asked(staged, lambda view: changes(plan, sink, state_topic, view, kept))


def _in_panes(
    records: DataFrame, plan: PersistentPlan, sink: Source, state_topic: str, access: StateAccess
) -> DataFrame:
    final = plan.aggregation is not None and plan.aggregation.final
    timed = with_until if final else without_until
    if isinstance(access.window, SessionWindow):
        rows = with_sessions(asked(records, lambda v: session_rows(plan, v, sink)), access)
        parts = asked(rows, lambda v: timed(session_parts(plan, v, access.partitions)))
    else:
        records = with_times(records, access)
        parts = asked(records, lambda v: timed(_time_parts(plan, sink, v, access)))
    kept = kept_pane(parts)
    staged = with_panes(parts, access, final=final)
    return asked(staged, lambda view: pane_changes(plan, sink, state_topic, view, kept))


def _time_parts(plan: PersistentPlan, sink: Source, view: str, access: StateAccess) -> str:
    return time_parts(with_keys(plan, sink, grouped(plan, view, access.partitions)))


def _of_table(
    records: DataFrame, plan: PersistentPlan, sink: Source, state_topic: str, access: StateAccess
) -> DataFrame:
    last = asked(records, lambda view: last_rows(plan, view, access.partitions))
    kept_row, key = kept_of_row(last), group_key(plan, sink)
    groups = asked(
        with_rows(last, access),
        lambda view: regrouped(plan, view, kept_row, access.partitions, key),
    )
    kept = kept_columns(groups)
    staged = asked(with_state(groups, access), noted)
    return asked(staged, lambda view: changes(plan, sink, state_topic, view, kept))


def kept_of_row(last: DataFrame) -> str:
    """The declaration of what is kept of a row of a table."""
    from pyspark.sql.types import StructField, StructType

    fields = {"g": last.schema[GROUP].dataType, "x": last.schema[KEPT_ROW].dataType}
    return StructType([StructField(name, kind) for name, kind in fields.items()]).toDDL()


def kept_pane(parts: DataFrame) -> str:
    """The declaration of what is kept of a window."""
    from pyspark.sql.types import ArrayType, BooleanType, LongType, StructField, StructType

    listed = parts.schema[PARTS].dataType
    assert isinstance(listed, ArrayType)  # noqa: S101 (it is made as one)
    part = listed.elementType
    assert isinstance(part, StructType)  # noqa: S101 (it is made as one)
    new = part["n"].dataType
    assert isinstance(new, StructType)  # noqa: S101 (it is made as one)
    fixed = [
        StructField("t", LongType()),
        StructField("g", parts.schema[GROUP].dataType),
        StructField("v", BooleanType()),
    ]
    return _all_nullable(StructType([*fixed, *new.fields])).toDDL()


def _all_nullable(kind: StructType) -> StructType:
    """Of a new group nothing was kept, so that anything may be NULL."""
    text = kind.json().replace('"nullable":false', '"nullable":true')
    made: StructType = kind.fromJson(json.loads(text))
    return made


def kept_columns(groups: DataFrame) -> str:
    """The declaration of what is kept of a group."""
    from pyspark.sql.types import LongType, StructField, StructType

    new = groups.schema[NEW].dataType
    assert isinstance(new, StructType)  # noqa: S101 (it is made as one)
    return StructType([StructField("t", LongType()), *new.fields]).toDDL()


def asked(frame: DataFrame, text: Callable[[str], str]) -> DataFrame:
    """The result of a query over ``frame``."""
    view = f"penstock_{uuid.uuid4().hex}"
    frame.createTempView(view)
    try:
        return frame.sparkSession.sql(text(view))
    finally:
        frame.sparkSession.catalog.dropTempView(view)
