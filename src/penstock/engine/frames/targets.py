"""Where turns end that can be told to have happened: folders, and tables that remember them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from penstock.engine.frames.delta_target import DeltaTarget
from penstock.engine.frames.formats import DELTA, ICEBERG, writes_files
from penstock.engine.frames.iceberg_target import IcebergTarget
from penstock.engine.frames.places import places
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.turn import Outcome, run_turn
from penstock.sdk.frames import FormatEnd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Frame = Callable[[], "DataFrame"]
Confirm = Callable[[], bool]


class Target(Protocol):
    """What is asked of it before and after a plan is stored. FrameError if it cannot be used."""

    def happened(self, plan: TurnPlan) -> bool:
        """Whether what this turn writes is there."""

    def following(self, plan: TurnPlan) -> TurnPlan:
        """``plan``; or, if the target would take it for one of the past, its ranges as another."""

    def write(self, plan: TurnPlan, frame: Frame, confirm: Confirm) -> Outcome:
        """Write ``frame()`` unless ``plan`` has happened.

        ``confirm`` says whether this worker still may. If it raises, nothing of the turn is there,
        or ``happened`` says that all of it is.
        """


def target_of(
    spark: SparkSession, end: FormatEnd, *, writer: str, worker_epoch: int
) -> Target | None:
    """The target of a connector's turns; None for a format that only appends.

    ``writer`` is who the turns are of, for whatever worker runs them; ``worker_epoch`` is greater
    than that of every worker before.
    """
    name = end.format.lower()
    if name == DELTA:
        return DeltaTarget(spark, end, writer)
    if name == ICEBERG:
        return IcebergTarget(spark, end)
    return FilesTarget(spark, end, worker_epoch) if writes_files(name) else None


class FilesTarget:
    """Folders of files, one for each turn."""

    def __init__(self, spark: SparkSession, end: FormatEnd, worker_epoch: int) -> None:
        self._spark = spark
        self._end = end
        self._worker_epoch = worker_epoch

    def happened(self, plan: TurnPlan) -> bool:
        """Whether its folder is in its place."""
        return places(self._spark, plan.target).happened(plan.id)

    def following(self, plan: TurnPlan) -> TurnPlan:
        """Every id has a place of its own."""
        return plan

    def write(self, plan: TurnPlan, frame: Frame, confirm: Confirm) -> Outcome:
        """Written aside, then renamed."""
        return run_turn(
            self._spark, plan, self._end, frame, worker_epoch=self._worker_epoch, confirm=confirm
        )
