"""A turn of a query with aggregates: a frame of records into a frame of changes."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.sql.catalog.source import Source
from penstock.sql.persistent.state_stages import StateAccess, with_state, with_times
from penstock.sql.planning.aggregate_text import NEW, changes, grouped, with_keys
from penstock.sql.planning.persistent import PersistentPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def aggregated(
    records: DataFrame, plan: PersistentPlan, sink: Source, state_topic: str, access: StateAccess
) -> DataFrame:
    """The changes that ``records``, one partition of Spark's, make to the groups."""
    if access.window is not None:
        records = with_times(records, access)
    groups = asked(
        records,
        lambda view: with_keys(plan, sink, grouped(plan, view, access.partitions)),
    )
    kept = kept_columns(groups)
    staged = with_state(groups, access)
    return asked(staged, lambda view: changes(plan, sink, state_topic, view, kept))


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
