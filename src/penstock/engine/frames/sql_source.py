"""What tasks of a source read in a turn, with a step in Spark SQL behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.engine.frames.load_stages import polling, reading_rows
from penstock.engine.frames.loaded import LoadReading
from penstock.engine.frames.seen_columns import Seen
from penstock.engine.frames.source_turn import Plan
from penstock.engine.frames.sql_frame import computed, own_session, prepare, seen_by, seen_type
from penstock.engine.frames.sql_step import Divided
from penstock.engine.lease.lease import SourceLease
from penstock.sdk.frame_sources import FrameShare, SourceTurn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class SqlSource:
    """Plans the turns of a source; ``leases`` are those of its tasks, with the whole recipe."""

    leases: Sequence[SourceLease]
    divided: Divided
    inner: Plan | None = None
    """What the connector plans, if Spark reads it; otherwise its tasks poll."""

    @property
    def producing(self) -> tuple[SourceLease, ...]:
        """The leases of the last stage."""
        return tuple(replace(lease, pipeline=self.divided.after) for lease in self.leases)

    def plan(self, spark: SparkSession, turn: SourceTurn) -> Sequence[FrameShare]:
        """Implements ``SourceOrder.plan``."""
        seen = self._seen()
        if self.inner is not None:
            return [self._read(share, seen) for share in self.inner(spark, turn)]
        session = own_session(spark)
        return [self._polled(session, lease, seen) for lease in self._reading()]

    def _seen(self) -> Seen:
        letters = bool(self.leases[0].tolerance.dead_letter_topic)
        return seen_by(self.divided.step, values=letters)

    def _reading(self) -> list[SourceLease]:
        return [replace(lease, pipeline=self.divided.before) for lease in self.leases]

    def _polled(self, session: SparkSession, lease: SourceLease, seen: Seen) -> FrameShare:
        step = self.divided.step
        rows = session.range(0, 1, 1, 1).mapInArrow(polling(lease, seen), seen_type(step))
        return FrameShare(lease.task, LoadReading(), computed(rows, step))

    def _read(self, share: FrameShare, seen: Seen) -> FrameShare:
        """Where only offsets move, Spark has nothing to do."""
        if share.frame is None:
            return share
        lease = next(lease for lease in self._reading() if lease.task == share.task)
        frame: DataFrame = share.frame.coalesce(1)
        prepare(frame.sparkSession)
        stage = reading_rows(lease, share.reading, seen)
        rows = frame.mapInArrow(stage, seen_type(self.divided.step))
        return replace(share, frame=computed(rows, self.divided.step), reading=LoadReading())
