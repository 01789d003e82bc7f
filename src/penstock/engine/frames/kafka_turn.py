"""A turn that ends in Kafka: ranges fixed by the worker, Spark's plan, one transaction per task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.engine.frames.errors import OutputError
from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.last_stage import RESULT, Decode, Encode, reports
from penstock.engine.frames.output_columns import output_columns
from penstock.engine.frames.plan_text import plan_text
from penstock.engine.frames.producing_stage import producing
from penstock.engine.frames.shuffles import refuse_moves
from penstock.engine.frames.small_turn import MOST_BYTES, produce_small, small_records
from penstock.engine.frames.task_frame import Part, task_frame
from penstock.engine.frames.task_output import run_task
from penstock.engine.frames.turn_order import TurnOrder, TurnOutcome
from penstock.engine.lease import producers
from penstock.kafka.patience import Patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Confirm = Callable[[], bool]


class KafkaTurn:
    """Runs one turn on the caller's thread, under whatever tags and pool that has."""

    def __init__(
        self,
        spark: SparkSession,
        order: TurnOrder,
        *,
        confirm: Confirm,
        question: Confirm,
        encode: Encode,
        decode: Decode[FrameReport],
    ) -> None:
        """``confirm`` asks whether the turn is wanted, on the worker; ``question`` does so from an
        executor. Reports come from executors as ``encode`` makes them."""
        self._spark = spark
        self._order = order
        self._confirm = confirm
        self._question = question
        self._encode = encode
        self._decode = decode

    def run(self) -> TurnOutcome:
        """Errors of tasks are in their reports. Raises FrameError if ``build`` returns something
        that cannot be produced, and otherwise what ``build`` and Spark raise."""
        plan = self._probe() if self._order.check else ""
        outcome = self._small() if self._order.small else None
        return replace(outcome or self._large(), checked=True, plan=plan)

    def _probe(self) -> str:
        """Look at the plan, over two partitions unless there is never more than one: over one,
        nothing would need a shuffle."""
        order = self._order
        parts: list[Part] = [(0, ())] if order.whole else [(0, ()), (1, ())]
        empty = task_frame(self._spark, order.connection, parts, headers=order.headers)
        built = order.build(empty, order.told(small=False, probe=True))
        made = output_columns(built)
        refuse_moves(made)
        return plan_text(made, order.leases[0].secrets)

    def _small(self) -> TurnOutcome | None:
        """None if the records are more than may pass through the worker."""
        order = self._order
        records = small_records(order.connection, order.parts, headers=order.headers)
        if records.nbytes > MOST_BYTES:
            return None
        frame = self._spark.createDataFrame(records)
        built = output_columns(order.build(frame, order.told(small=True)))
        made = produce_small(built.toArrow(), order.leases, self._confirm)
        return TurnOutcome(tuple(made), small=True, input_bytes=records.nbytes)

    def _large(self) -> TurnOutcome:
        order = self._order
        frame = task_frame(self._spark, order.connection, order.parts, headers=order.headers)
        built = output_columns(order.build(frame, order.told(small=False)))
        refuse_moves(built)
        stage = producing(order.leases, self._question, self._encode)
        result = built.mapInArrow(stage, RESULT)
        if not self._partitions(result):
            return TurnOutcome(tuple(map(self._passed_over, order.leases)))
        return TurnOutcome(
            tuple(reports(result.collect(), order.leases, FrameReport, self._decode))
        )

    def _partitions(self, result: DataFrame) -> int:
        """As many as there are tasks; or none, where Spark knows that nothing is left."""
        count = int(result._jdf.queryExecution().toRdd().getNumPartitions())
        if count not in (0, len(self._order.leases)):
            raise OutputError(
                f"what build returned has {count} partitions, and records has "
                f"{len(self._order.leases)}: leave out what changes the partitioning"
            )
        return count

    def _passed_over(self, lease: FrameLease) -> FrameReport:
        """Nothing is made of these records: only their offsets are committed."""
        return run_task(
            lease, (), self._confirm, acquire=lambda each: producers.acquire(each, Patience())
        )
