"""Turns into a table of Iceberg's: each snapshot names its turn, which is looked up first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.engine.frames.formats import ICEBERG, refuse_unless_iceberg
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.turn import Outcome, explained
from penstock.sdk.frames import FormatEnd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROPERTY = "penstock-turn"


class IcebergTarget:
    """Implements ``targets.Target``."""

    def __init__(self, spark: SparkSession, end: FormatEnd) -> None:
        refuse_unless_iceberg(spark, end.table)
        self._spark = spark
        self._end = end

    def happened(self, plan: TurnPlan) -> bool:
        """Whether one of the table's snapshots is of this turn."""
        from pyspark.sql import functions as sql

        with explained(self._end.table):
            if not self._exists():
                return False
            self._spark.catalog.refreshTable(self._end.table)  # others write to it
            snapshots = self._spark.table(f"{self._end.table}.snapshots")
            return not snapshots.where(sql.col("summary")[PROPERTY] == plan.id).isEmpty()

    def following(self, plan: TurnPlan) -> TurnPlan:
        """Every id is a turn of its own."""
        return plan

    def write(
        self, plan: TurnPlan, frame: Callable[[], DataFrame], confirm: Callable[[], bool]
    ) -> Outcome:
        """One snapshot; a table that does not exist is made."""
        if self.happened(plan):
            return Outcome.HAPPENED_BEFORE
        with explained(self._end.table):
            rows = frame()
            if not self._exists():
                self._create(rows)
            if not confirm():
                return Outcome.NOT_WANTED
            writer = rows.writeTo(self._end.table).options(**self._end.options)
            writer.option(f"snapshot-property.{PROPERTY}", plan.id).append()
        return Outcome.WRITTEN

    def _exists(self) -> bool:
        return self._spark.catalog.tableExists(self._end.table)

    def _create(self, rows: DataFrame) -> None:
        from pyspark.sql import functions as sql

        writer = self._spark.createDataFrame([], rows.schema).writeTo(self._end.table)
        columns = [sql.col(name) for name in self._end.partition_by]
        if columns:
            writer = writer.partitionedBy(*columns)
        writer.using(ICEBERG).create()
