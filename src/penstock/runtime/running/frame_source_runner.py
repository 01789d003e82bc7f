"""A running source that Spark reads: a source whose turns are Spark jobs over all its tasks."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.engine.driver.frame_turns import Turn, TurnDone
from penstock.engine.driver.source_turns import FromSpark
from penstock.engine.frames.source_turn import SourceOrder
from penstock.engine.lease.lease import End, SourceLease
from penstock.runtime.running.source_runner import SourceRunner
from penstock.runtime.running.turn_runner import TurnRunner
from penstock.sdk.frame_sources import SourceTurn, SourceTurnEnd


class FrameSourceRunner(TurnRunner[SourceLease], SourceRunner):
    """Positions, fencing and statuses are a source's. The connector plans on the turn's own
    thread."""

    def _extras(self) -> dict[int, Mapping[str, str]]:
        """The tasks are told what to do by ``plan_turn``."""
        return {}

    def _turn_of(self, leases: tuple[SourceLease, ...]) -> Turn:
        return FromSpark(self._order(leases))

    def _order(self, leases: tuple[SourceLease, ...]) -> SourceOrder:
        tasks = tuple(lease.task for lease in leases)
        told = SourceTurn(self.name, self._offsets(), tasks)
        connector = self._connector
        return SourceOrder(
            leases, told, connector.plan_turn, connector.failed, explain=not self.plan
        )

    def _learn(self, done: TurnDone) -> None:
        outcome = done.outcome
        if outcome is None:
            return
        self.plan = outcome.plan or self.plan
        committed = {r.task: r.records for r in outcome.reports if r.end is End.DONE}
        if committed and self._connector is not None:
            self._tell(SourceTurnEnd(committed, done.seconds))
