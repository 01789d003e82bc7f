"""A running connector: what sources and sinks have in common.

A runner lives from the moment its connector should run until it should not: pausing, stopping, a
new configuration and a restart all end it (``halt``) and may start another. It always starts
unsure of its positions, so that the previous runner is fenced before its first lease.

``look`` and ``turn`` are called by the scheduler, never two at once. A look takes how leases have
ended; a turn makes sure of the positions and hands leases over to tasks that have none, and returns
while they run. ``halt``, ``doubt`` and ``renew`` may come from any thread.
"""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.engine.lease.lease import Lease, Limits
from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.logs.secrets import scrub
from penstock.logs.subject import about
from penstock.runtime.callbacks import CallbackHangs
from penstock.runtime.errors import Conflict, RequestError
from penstock.runtime.running.fencing import fence_some, fence_tasks
from penstock.runtime.running.idle_pause import IdlePause
from penstock.runtime.running.leased_tasks import LeasedTasks
from penstock.runtime.running.scheduler import REST, Next
from penstock.runtime.running.standstill import error_text
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

FINISH_SECONDS = 2.5
PROBE_PAUSE = 5.0
CHECK_SECONDS = 1.0
"""How often running leases are checked."""
DRY_SECONDS, SHORT_DRY_SECONDS = 10.0, 1.0
"""Seconds without records after which leases end: longer where a look finds new ones."""


class Runner(LeasedTasks):
    """The loop of one connector."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._activity = threading.Lock()
        self._pause = IdlePause()

    # Called by the scheduler.

    def look(self) -> Next:
        """Start the connector if necessary, and check whether there is anything to do."""
        self.meter.looks += 1
        with self._active():
            if self._halted.is_set():
                return REST
            self._take_ends()
            self._answer_leases()
            if self._watch.changed():
                self._begin_anew()
            if self._broken:
                return self._rest()
            if self._connector is None and (begun := self._start()) is not None:
                return begun
            if not self._live():
                return self._rest()
            return self._look_for_work()

    @property
    def unsure(self) -> bool:
        """Whether the positions of the whole connector have to be verified."""
        return self._unverified.all

    @property
    def adrift(self) -> bool:
        """Whether the positions of any task without a lease have to be verified."""
        return self.unsure or self._unverified.some(self._running)

    def doubt(self) -> None:
        """Verify all positions before any lease is handed over; what runs finishes."""
        self._unverified.doubt()
        self._leases.finish()

    def renew(self) -> None:
        """The workers' group has a new generation: others may have run this connector in between.

        What has committed runs on, under the new one (rule 3): a worker that has taken over has
        fenced it. Positions are verified before each task's next lease.
        """
        self._unverified.renew()
        self._leases.finish_uncommitted()

    @contextmanager
    def _active(self) -> Iterator[None]:
        """One at a time; if it was halted in between, the connector is stopped at the end."""
        with self._activity:
            try:
                yield
            finally:
                if self._halted.is_set():
                    self._drop_connector()

    def _look_for_work(self) -> Next:
        self._leases.check()
        starting = self.context.engine.session.starting  # which the status says by itself
        self._standstill.awaits_executor(self._leases.waiting() and not starting)
        resting = self._resting()
        if self._running:
            self._look_at_running()
        if self._running and (self.unsure or self._leases.together):
            if self.unsure:  # leases that were handed over meanwhile, too
                self._leases.finish()
            return Next(delay=CHECK_SECONDS)
        if not resting:
            return Next(delay=CHECK_SECONDS)
        losses = self._standstill.losses
        if not losses.due(resting):
            return Next(delay=losses.pause(resting))
        if (left := self._pause.left) > 0:
            return Next(delay=left)
        return self._guarded(self._look_while_due)

    def _look_at_running(self) -> None:
        """Called every second while leases run: ask them to finish if there is a reason."""

    def _wake(self) -> None:
        self.context.scheduler.wake(self)

    def _answer_leases(self) -> None:
        """Rule 10: a lease may begin if the topics, read to their end since it has asked, still
        assign its connector to this worker. Without an answer it ends."""
        asking = self._leases.take_asking()
        try:
            if asking and self.context.still_wanted(self.name):
                self._leases.confirm(asking)
        except (KafkaFault, RequestError) as error:
            log.info("leases could not be confirmed: %s", error)

    def _is_wanted(self) -> bool:
        """The same for a whole turn: it may go on if the connector is assigned to this worker."""
        return self.context.alone() or self.context.still_wanted(self.name)

    def _look_while_due(self) -> Next:
        found = self._look()
        if not found.turn and not self._running:
            self._standstill.idle()
        return found

    def _guarded(self, step: Callable[[], Next]) -> Next:
        try:
            found = step()
        except (CallbackHangs, ConfigError, AccessDenied) as error:
            self.doubt()
            self._give_up(error)
            return self._rest()
        except Exception as error:  # noqa: BLE001 (one connector's loop must not end by a defect)
            return self._later(error)
        if not found.turn:  # otherwise the turn shows whether Kafka answers
            self._standstill.goes_on()
        return found

    def turn(self) -> Next:
        """Hand leases over to tasks that have none, after making sure of their positions."""
        with self._active():
            if self._halted.is_set():
                return REST
            return self._rest() if self._broken else self._guarded(self._sure_turn)

    def _sure_turn(self) -> Next:
        self._take_ends()
        # Before the doubts are checked: see Cluster.joined.
        self._standing = self.context.membership()
        self._unverified.spread(len(self._tasks))
        if self._running and (self.unsure or self._leases.together):
            return Next(delay=0.0)  # a look says what to do
        unverified = self._unverified.tasks()
        if self.unsure or (unverified and self._leases.together):
            self._refuse_unless_wanted()
            self._recover()
        elif adrift := unverified.intersection(self._resting()):
            self._refuse_unless_wanted()
            self._recover_some(adrift)
        return self._hand_out()

    def _refuse_unless_wanted(self) -> None:
        """Until the runner is ended, or its connector comes back."""
        if not self.context.still_wanted(self.name):
            raise Conflict("it is assigned to another worker, or to none")

    def _later(self, error: Exception, doing: str = "") -> Next:
        """Nothing can be done now: retry, less and less often, and report it if that lasts."""
        if not self._running:  # otherwise nothing has changed for those that run
            self.doubt()
        cause = scrub(f"{doing}{error_text(error)}", self._hidden)
        return Next(delay=self._standstill.waits(error, cause))

    def halt(self) -> None:
        """End the loop: no new lease, finish those that run, revoke them after 2.5 s.

        Does not fence: the next runner does, before it trusts any position.
        """
        with about(self.name):
            self._halt()

    def _halt(self) -> None:
        self._halted.set()
        self._leases.close()
        self._standstill.fall_silent()
        self.context.scheduler.forget(self)
        if not self._leases.end(FINISH_SECONDS):
            log.warning("a lease does not finish; it is revoked, and its carrier is ended")
        self._stop_connector()

    # Starting and stopping the connector object.

    def _start(self) -> Next | None:
        """Create and start the connector; FAILED with its trace if that fails.

        None if it runs now, otherwise what comes next.
        """
        try:
            tasks = self._watched(self._start_connector)
        except Exception as error:  # noqa: BLE001 (any error makes the connector FAILED)
            if isinstance(error, CallbackHangs) and error.may_return:
                return Next(delay=0.5)  # a call of the previous runner is in progress
            self._give_up(error)
            return self._rest()
        if self._broken or self._halted.is_set():  # it returned, but too late
            return self._rest()
        self._startup.succeeded()
        if tasks != self.context.configs.tasks(self.name):
            try:
                self.context.put_tasks(self.name, tasks)
            except (RequestError, KafkaFault) as error:
                self._drop_connector()
                return self._later(error, "its tasks could not be stored: ")
        if self._halted.is_set():  # and its status may have been set already
            return REST
        self._tasks = tasks
        self._report_running()
        return None

    def _begin_anew(self) -> None:
        """Restart the connector and all its tasks, including failed ones."""
        log.info("a value that the config refers to has changed: restarting the connector")
        self._drop_connector()
        self._broken = False
        self.failed.clear()
        self.doubt()

    def _stop_connector(self) -> None:
        if not self._activity.acquire(timeout=1.0):
            log.warning("a callback does not return; abandoning it until it does")
            return
        try:
            self._take_ends()
            self._drop_connector()
        finally:
            self._activity.release()

    # Turns.

    @abstractmethod
    def _look(self) -> Next:
        """Whether there is anything to do."""

    @abstractmethod
    def _plan(self, tasks: Sequence[int], limits: Limits) -> list[Lease]:
        """Leases for these tasks; tasks with nothing to do may be left out."""

    @abstractmethod
    def _read_positions(self) -> None:
        """Read the positions again, after fencing."""

    def _recover(self) -> None:
        """Rule 1: abort and fence every task id, then read what is really committed.

        Only while no lease runs. A doubt that is raised meanwhile stays.
        """
        with self._unverified.verifying():
            count = max(len(self._tasks), self.context.configs.fenced_tasks(self.name))
            fence_tasks(self.context, self.name, count)
            self._previous = {}
            self._read_positions()

    def _recover_some(self, tasks: Collection[int]) -> None:
        """Rule 1 for tasks whose leases were lost: their own ids alone, since others run."""
        fence_some(self.context, self.name, tasks)
        for task in tasks:
            self._previous.pop(task, None)
        self._read_positions()
        self._unverified.verified(tasks)

    def _hand_out(self) -> Next:
        resting = self._standstill.losses.due(self._resting())
        leases = self._plan(resting, self.context.worker.limits()) if resting else []
        self._leases.patience = self._patience()
        for lease in map(self._suspects.limited, leases):
            self._standstill.goes_on()
            self.meter.begin(lease)
            if not self._leases.hand_over(lease):
                return REST
        return Next(delay=CHECK_SECONDS) if leases or self._running else self._idle()

    def _patience(self) -> float:
        """Seconds without records after which leases are asked to finish."""
        return DRY_SECONDS

    def _take_ends(self) -> None:
        """Take how leases have ended since the last look."""
        ended = self._take_ended()
        if ended and not self._unverified.some(self._running):
            self._settle_down(sum(each.report.records for each in ended if each.report))

    def _settle_down(self, moved: int) -> None:
        """Look again immediately while there is work; otherwise with growing pauses."""
        if moved:
            self._pause.end()
        else:
            self._pause.begin(self._idle().delay or 0.0)

    def _idle(self) -> Next:
        longest = self.context.worker["look.interval.max.ms"] / 1000
        return Next(delay=self._pause.longer(longest))
