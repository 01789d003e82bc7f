"""A running source that Spark reads: a source whose turns are Spark jobs over all its tasks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from penstock.engine.driver.frame_turns import TurnDone
from penstock.engine.driver.source_turns import FromSpark
from penstock.engine.frames.source_turn import SourceOrder
from penstock.engine.lease.lease import End, SourceLease
from penstock.runtime.running.runner import CHECK_SECONDS
from penstock.runtime.running.scheduler import REST, Next
from penstock.runtime.running.source_runner import SourceRunner
from penstock.runtime.running.turn_leases import TurnLeases
from penstock.sdk.frame_sources import SourceTurn, SourceTurnEnd

log = logging.getLogger(__name__)


class FrameSourceRunner(SourceRunner):
    """Positions, fencing and statuses are a source's. The connector plans on the turn's own thread;
    how its tasks ended is taken as that of leases."""

    _leases_class = TurnLeases
    _leases: TurnLeases

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._leases.together = True
        self.plan = ""
        """Spark's plan of the turns; empty before the first that has read something."""

    def _extras(self) -> dict[int, Mapping[str, str]]:
        """The tasks are told what to do by ``plan_turn``."""
        return {}

    def _hand_out(self) -> Next:
        due = self._standstill.losses.due(self._resting())
        planned = self._plan(due, self.context.worker.limits()) if due else []
        leases = tuple(lease for lease in planned if isinstance(lease, SourceLease))
        if not leases:
            return self._idle()
        self._standstill.goes_on()
        for lease in leases:
            self.meter.begin(lease)
        turn = FromSpark(self._order(leases))
        begun = self._leases.run_turn(turn, leases, self._is_wanted)
        return Next(delay=CHECK_SECONDS) if begun else REST

    def _order(self, leases: tuple[SourceLease, ...]) -> SourceOrder:
        tasks = tuple(lease.task for lease in leases)
        told = SourceTurn(self.name, self._offsets(), tasks)
        connector = self._connector
        return SourceOrder(
            leases, told, connector.plan_turn, connector.failed, explain=not self.plan
        )

    def _take_ends(self) -> None:
        for done in self._leases.take_done():
            self._learn(done)
        super()._take_ends()

    def _learn(self, done: TurnDone) -> None:
        outcome = done.outcome
        if outcome is None:
            return
        self.plan = outcome.plan or self.plan
        committed = {r.task: r.records for r in outcome.reports if r.end is End.DONE}
        if committed and self._connector is not None:
            try:
                end = SourceTurnEnd(committed, done.seconds)
                self._watched(self._connector.turned, end)
            except Exception:  # what is committed stays so
                log.exception("the connector's turned failed")
