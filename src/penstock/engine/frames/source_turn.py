"""One turn of a frame source: planned by the connector, read by Spark, one task of Spark's each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from penstock.engine.frames.errors import OutputError
from penstock.engine.frames.last_stage import RESULT, Decode, Encode, reports
from penstock.engine.frames.plan_text import plan_text
from penstock.engine.frames.row_loop import Rows, run_rows
from penstock.engine.frames.row_stage import producing_rows
from penstock.engine.frames.shuffles import refuse_shuffles
from penstock.engine.frames.turn_order import TurnOutcome
from penstock.engine.lease.lease import End, Report, SourceLease
from penstock.sdk.errors import RetriableError
from penstock.sdk.frame_sources import FrameShare, SourceTurn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Confirm = Callable[[], bool]
Plan = Callable[["SparkSession", SourceTurn], Sequence[FrameShare]]


@dataclass(frozen=True)
class SourceOrder:
    """A turn of one connector: all its tasks that rest."""

    leases: tuple[SourceLease, ...]
    turn: SourceTurn
    plan: Plan
    failed: Callable[[str], bool]
    """Asked when Spark has failed: whether the next plan leaves out what is at fault."""
    explain: bool = False
    """Whether the outcome is to have Spark's plan."""

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.turn.connector

    def __str__(self) -> str:
        return f"{self.connector}: a turn of {len(self.leases)} tasks"


class SparkSourceTurn:
    """Runs one turn on the caller's thread, under whatever tags and pool that has."""

    def __init__(
        self,
        spark: SparkSession,
        order: SourceOrder,
        *,
        confirm: Confirm,
        question: Confirm,
        encode: Encode,
        decode: Decode[Report],
    ) -> None:
        """As ``KafkaTurn``."""
        self._spark = spark
        self._order = order
        self._confirm = confirm
        self._question = question
        self._encode = encode
        self._decode = decode
        self._leases = {lease.task: lease for lease in order.leases}
        self._plan = ""

    def run(self) -> TurnOutcome:
        """Errors of tasks are in their reports. Raises FrameError for a plan that cannot be run,
        and otherwise what the connector and Spark raise."""
        shares = self._order.plan(self._spark, self._order.turn)
        read = [share for share in shares if share.frame is not None]
        made = [self._moved(share) for share in shares if share.frame is None]
        made += self._read(read) if read else []
        idle = self._leases.keys() - {share.task for share in shares}
        made += (self._nothing(self._leases[task]) for task in sorted(idle))
        return TurnOutcome(tuple(made), plan=self._plan)

    def _nothing(self, lease: SourceLease) -> Report:
        return Report(lease.task, lease.lease_id, End.DONE)

    def _moved(self, share: FrameShare) -> Report:
        """Only offsets move: no need for Spark."""
        return run_rows(self._leases[share.task], self._confirm, Rows((), share.reading))

    def _read(self, shares: Sequence[FrameShare]) -> Iterable[Report]:
        self._spark.sparkContext.setJobDescription(self._description(shares))
        frame = self._one_partition_each(shares)
        if self._order.explain:
            secrets = self._order.leases[0].secrets
            self._plan = plan_text(frame, secrets)
        tasks = [(self._leases[share.task], share.reading) for share in shares]
        result = frame.mapInArrow(producing_rows(tasks, self._question, self._encode), RESULT)
        count = int(result._jdf.queryExecution().toRdd().getNumPartitions())
        if count != len(shares):
            raise OutputError(
                f"{count} partitions were made of the {len(shares)} that were planned"
            )
        leases = [lease for lease, _ in tasks]
        return reports(self._collected(result), leases, Report, self._decode)

    def _description(self, shares: Sequence[FrameShare]) -> str:
        told = "; ".join(f"task {share.task}: {share.about}" for share in shares if share.about)
        return f"{self._order}, {told}"[:500] if told else str(self._order)

    def _collected(self, result: DataFrame) -> Iterable[Any]:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            return result.collect()
        except (PySparkException, Py4JJavaError) as error:
            if self._order.failed(str(error)):
                raise RetriableError("the next turn leaves out what Spark cannot read") from None
            raise

    def _one_partition_each(self, shares: Sequence[FrameShare]) -> DataFrame:
        frames: list[DataFrame] = []
        for frame in (share.frame for share in shares if share.frame is not None):
            refuse_shuffles(frame)
            frames.append(frame.coalesce(1))
        return reduce(lambda one, other: one.union(other), frames)
