"""Running connectors that have a transform in Spark SQL: their turns are Spark jobs.

Positions, fencing and statuses are those of any source or sink.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from penstock.engine.driver.frame_turns import Turn, TurnDone
from penstock.engine.driver.sink_turns import ThroughSql
from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.sink_turn import SinkOrder
from penstock.engine.frames.source_turn import SourceOrder
from penstock.engine.frames.sql_source import SqlSource
from penstock.engine.frames.sql_step import Divided, divided
from penstock.engine.lease.lease import Lease, Limits, SourceLease
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId
from penstock.runtime.running.frame_runner import FrameRunner
from penstock.runtime.running.frame_source_runner import FrameSourceRunner
from penstock.runtime.running.sink_runner import SinkRunner
from penstock.runtime.running.source_runner import SourceRunner
from penstock.runtime.stores.sink_snapshot import Start
from penstock.sdk.frame_sources import FrameSourceConnector, SourceTurn


def _divided(lease: Lease) -> Divided:
    assert isinstance(lease.pipeline, Recipe)  # noqa: S101 (it is not resolved yet)
    return divided(lease.pipeline, lambda settings: lease.providers.resolve(settings).config)


class SqlSourceRunner(FrameSourceRunner):
    """Of a source whose tasks poll, or which Spark reads."""

    def _extras(self) -> dict[int, Mapping[str, str]]:
        """A source whose tasks poll may divide its work before each turn, as on carriers."""
        if isinstance(self._connector, FrameSourceConnector):
            return super()._extras()
        extras = SourceRunner._extras(self)
        self._leases.together = True
        return extras

    def _order(self, leases: tuple[SourceLease, ...]) -> SourceOrder:
        connector, frames = self._connector, isinstance(self._connector, FrameSourceConnector)
        source = SqlSource(leases, _divided(leases[0]), connector.plan_turn if frames else None)
        told = SourceTurn(self.name, self._offsets(), tuple(lease.task for lease in leases))
        return SourceOrder(
            source.producing,
            told,
            source.plan,
            connector.failed if frames else lambda _: False,
            explain=not self.plan,
        )

    def _learn(self, done: TurnDone) -> None:
        if isinstance(self._connector, FrameSourceConnector):
            super()._learn(done)
        elif done.outcome is not None:
            self.plan = done.outcome.plan or self.plan


class SqlSinkRunner(FrameRunner):
    """Of a sink whose tasks put what Spark has computed."""

    def _start_connector(self) -> list[dict[str, str]]:
        """It says nothing of where its turns end: its tasks do."""
        return SinkRunner._start_connector(self)

    def _frame_lease(
        self,
        task: int,
        limits: Limits,
        starts: Mapping[PartitionId, Start],
        topic_ids: Mapping[str, str],
        ranges: Iterable[Range],
    ) -> FrameLease:
        made = super()._frame_lease(task, limits, starts, topic_ids, ranges)
        return replace(made, committed=self._group_positions.all())

    def _turn_of(self, leases: tuple[FrameLease, ...]) -> Turn:
        return ThroughSql(SinkOrder(leases, _divided(leases[0]), explain=not self.plan))
