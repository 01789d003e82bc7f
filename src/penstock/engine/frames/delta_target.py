"""Turns into a table of Delta's, each with a number that never falls.

Delta's log keeps, for each writer, the number of its last transaction, and passes over one whose
number is not greater. A turn's number is its epoch. A worker that was frozen, and goes on behind
its heir, writes nothing: its number is the heir's, or smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.engine.frames.errors import WriteError
from penstock.engine.frames.formats import DELTA, refuse_unless_delta
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.turn import Outcome, explained
from penstock.sdk.frames import FormatEnd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NONE = -1
"""Less than any number of a turn."""


class DeltaTarget:
    """Implements ``targets.Target``."""

    def __init__(self, spark: SparkSession, end: FormatEnd, writer: str) -> None:
        refuse_unless_delta(spark)
        self._spark = spark
        self._end = end
        self._writer = writer

    def happened(self, plan: TurnPlan) -> bool:
        """Whether the last turn in the table is this one."""
        return self._last() == plan.epoch

    def following(self, plan: TurnPlan) -> TurnPlan:
        """With a number that is greater than all in the table: clocks may step back."""
        last = self._last()
        return plan if plan.epoch > last else replace(plan, epoch=last + 1)

    def write(
        self, plan: TurnPlan, frame: Callable[[], DataFrame], confirm: Callable[[], bool]
    ) -> Outcome:
        """One transaction of Delta's."""
        if not confirm():
            return Outcome.NOT_WANTED
        try:
            with explained(plan.target):
                self._append(plan, frame())
        except WriteError:
            # Two that commit the same turn at once: Delta tells one of them to try again.
            if self.happened(plan):
                return Outcome.HAPPENED_BEFORE
            raise
        # Delta has passed over a turn that is older than the last, without a word.
        return Outcome.WRITTEN if self.happened(plan) else Outcome.NOT_WANTED

    def _append(self, plan: TurnPlan, frame: DataFrame) -> None:
        mark = {"txnAppId": self._writer, "txnVersion": str(plan.epoch)}
        writer = frame.write.format(DELTA).mode("append").options(**{**self._end.options, **mark})
        if self._end.partition_by:
            writer = writer.partitionBy(*self._end.partition_by)
        writer.save(plan.target)

    def _last(self) -> int:
        """The number of the writer's last turn, as the table's log has it now."""
        jvm: Any = self._spark._jvm
        with explained(self._end.path):
            log = jvm.org.apache.spark.sql.delta.DeltaLog
            state = log.forTableWithSnapshot(self._spark._jsparkSession, self._end.path)._2()
            found = state.transactions().get(self._writer)
            return int(found.get()) if found.isDefined() else NONE
