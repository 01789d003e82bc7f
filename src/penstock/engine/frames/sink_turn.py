"""One turn of a sink whose transforms have a step in Spark SQL: read, computed, and put."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from penstock.engine.frames.errors import OutputError
from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.last_stage import RESULT, Decode, Encode, reports
from penstock.engine.frames.load_stages import reading_ranges
from penstock.engine.frames.plan_text import plan_text
from penstock.engine.frames.put_stage import putting
from penstock.engine.frames.seen_columns import MENTIONED
from penstock.engine.frames.shuffles import refuse_shuffles
from penstock.engine.frames.source_turn import Confirm
from penstock.engine.frames.sql_frame import computed, own_session, seen_by, seen_type
from penstock.engine.frames.sql_step import Divided
from penstock.engine.frames.turn_order import TurnOutcome, topic_ranges
from penstock.engine.lease.lease import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class SinkOrder:
    """A turn of one connector: all its tasks with something to do."""

    leases: tuple[FrameLease, ...]
    """With the whole recipe."""
    divided: Divided
    explain: bool = False
    """Whether the outcome is to have Spark's plan."""

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.leases[0].connector

    @property
    def headers(self) -> bool:
        """Whether headers are read."""
        task, recipe = self.leases[0].task_class, self.divided.before
        predicated = any(condition for _, _, condition in self._steps)
        mentioned = bool(MENTIONED.search(self.divided.step.text))
        return task.wants_headers or predicated or mentioned or recipe.headers is not None

    @property
    def _steps(self) -> list[Any]:
        return [*self.divided.before.transforms, *self.divided.after.transforms]

    def __str__(self) -> str:
        ranges = ", ".join(
            f"{r.topic}-{r.partition} from {r.start} to {r.stop}" for r in topic_ranges(self.leases)
        )
        return f"{self.connector}: a turn over {ranges}"[:500]


class SparkSinkTurn:
    """Runs one turn on the caller's thread, under whatever tags and pool that has."""

    def __init__(
        self,
        spark: SparkSession,
        order: SinkOrder,
        *,
        question: Confirm,
        encode: Encode,
        decode: Decode[Report],
    ) -> None:
        """As ``KafkaTurn``."""
        self._session = own_session(spark)
        self._order = order
        self._question = question
        self._encode = encode
        self._decode = decode

    def run(self) -> TurnOutcome:
        """Errors of tasks are in their reports. Raises ConfigError for a step that cannot be
        planned, and otherwise what Spark raises."""
        frame = self._computed()
        refuse_shuffles(frame)
        secrets = self._order.leases[0].secrets
        plan = plan_text(frame, secrets) if self._order.explain else ""
        after = [replace(each, pipeline=self._order.divided.after) for each in self._order.leases]
        result = frame.mapInArrow(putting(after, self._question, self._encode), RESULT)
        count = int(result._jdf.queryExecution().toRdd().getNumPartitions())
        if count != len(after):
            raise OutputError(f"{count} partitions were made of the {len(after)} that were planned")
        made = reports(result.collect(), after, Report, self._decode)
        return TurnOutcome(tuple(made), checked=True, plan=plan)

    def _computed(self) -> DataFrame:
        order, step = self._order, self._order.divided.step
        letters = bool(order.leases[0].tolerance.dead_letter_topic)
        before = tuple(replace(each, pipeline=order.divided.before) for each in order.leases)
        # A sink's dead letter is the record as it was in the topic, which a load has by itself.
        stage = reading_ranges(
            before, seen_by(step, values=False), headers=order.headers or letters
        )
        numbers = self._session.range(0, len(before), 1, len(before))
        return computed(numbers.mapInArrow(stage, seen_type(step)), step)
