"""What runners have in common whose tasks run in turns: Spark jobs over all of them, one at a time.

A turn runs on its own thread; how its tasks ended is taken as that of leases.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from typing import Any, Generic, TypeVar

from penstock.engine.driver.frame_turns import Turn, TurnDone
from penstock.engine.lease.lease import Lease
from penstock.runtime.running.runner import CHECK_SECONDS, Runner
from penstock.runtime.running.scheduler import REST, Next
from penstock.runtime.running.turn_leases import TurnLeases

log = logging.getLogger(__name__)

L = TypeVar("L", bound=Lease)


class TurnRunner(Runner, Generic[L]):
    """Named before ``SourceRunner`` or ``SinkRunner``, which plan leases of kind ``L``."""

    _leases_class = TurnLeases
    _leases: TurnLeases

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._leases.together = True
        self._turn: tuple[L, ...] = ()
        """The tasks of the turn that was begun last."""
        self.plan = ""
        """Spark's plan of the turns; empty before the first that has read something has ended."""

    @abstractmethod
    def _turn_of(self, leases: tuple[L, ...]) -> Turn:
        """What is run for these tasks."""

    @abstractmethod
    def _learn(self, done: TurnDone) -> None:
        """A turn has ended; how its tasks did is taken after that."""

    def _hand_out(self) -> Next:
        due = self._standstill.losses.due(self._resting())
        planned: list[Any] = self._plan(due, self.context.worker.limits()) if due else []
        if not planned:
            return self._idle()
        self._turn = tuple(planned)
        turn = self._turn_of(self._turn)  # which may have to wait for brokers
        self._standstill.goes_on()
        for lease in planned:
            self.meter.begin(lease)
        begun = self._leases.run_turn(turn, self._turn, self._is_wanted)
        return Next(delay=CHECK_SECONDS) if begun else REST

    def _take_ends(self) -> None:
        for done in self._leases.take_done():
            self._learn(done)
        super()._take_ends()

    def _tell(self, end: object) -> None:
        """Tell the connector how a turn has ended."""
        try:
            self._watched(self._connector.turned, end)
        except Exception:  # what is committed stays so
            log.exception("the connector's turned() failed")
