"""What keeps a connector or task from making progress, reported in the log and status.

Lost leases concern a task; what keeps the whole connector waiting (Kafka, the leader, an internal
error) concerns the connector. Both are reported in the log, and in the status as a remark on the
state, which does not change: Kafka Connect's clients do not know other states.
"""

from __future__ import annotations

import logging
import threading

from penstock.kafka.errors import BrokerUnavailable, KafkaFault
from penstock.kafka.outages import outages
from penstock.logs.subject import about
from penstock.runtime.errors import Conflict, RequestError
from penstock.runtime.meters.loss_reasons import Reason, advice_for
from penstock.runtime.meters.losses import Losses
from penstock.runtime.meters.metrics import FIRST_WAIT, ConnectorMeter
from penstock.runtime.meters.streaks import LONGEST_PAUSE, Streak
from penstock.runtime.running.own_statuses import OwnStatuses

log = logging.getLogger(__name__)

AWAITS_EXECUTOR = (
    "Waiting for a Spark executor since {since}: none has a free slot. The tasks go on as soon as "
    "one has. Spark's master, or its log, says what it waits for."
)

AWAITS = "Waiting since {since}, and trying again: {what}"


class Standstill:
    """The problems of one runner. ``progressed``, ``task_awaits`` and ``fall_silent`` are
    thread-safe."""

    _silent = False

    def __init__(self, name: str, shown: OwnStatuses, meter: ConnectorMeter) -> None:
        self._name = name
        self._shown = shown
        self._meter = meter
        self.losses = Losses()
        self._waits = Streak(FIRST_WAIT)
        self._executor = Streak(FIRST_WAIT)
        self._awaited: dict[int, Streak] = {}
        self._awaiting = threading.Lock()
        meter.follow(self.losses, self._waits)

    def begin_anew(self) -> None:
        """The connector and its tasks have just been set to RUNNING."""
        self.losses.clear()
        self._waits.clear()
        self._executor.clear()
        with self._awaiting:
            self._awaited.clear()

    def fall_silent(self) -> None:
        """Stop writing remarks to statuses: from now on they belong to another runner."""
        self._silent = True

    # Tasks.

    def lost(self, task: int, reason: Reason, detail: str) -> None:
        """A lease of the task was lost."""
        self._meter.task(task).lost[reason] += 1
        if self.losses.lost(task, reason, detail):
            story = self.losses.story(task)
            self._remark(task, story)
            with about(self._name, task):
                log.warning("%s", story)

    def progressed(self, task: int) -> None:
        """The task has committed something, or a lease of it has ended well."""
        if self.losses.progressed(task):
            self._remark(task, None)
            with about(self._name, task):
                log.info("no more lost leases: the task is making progress again")

    def task_awaits(self, task: int, what: str) -> None:
        """The task says what it has to wait for (a service that does not answer, for example);
        empty: for nothing any more. It has told the log itself."""
        with self._awaiting:
            row = self._awaited.setdefault(task, Streak(FIRST_WAIT))
            if not what:
                del self._awaited[task]
                if row.told:
                    self._remark(task, None)
                return
            if not row.count:
                row.add()
            if row.worth_telling():
                self._remark(task, AWAITS.format(since=row.since, what=what))

    def idle(self) -> None:
        """There is nothing to do for any task, so none is stuck."""
        for task in self.losses.tasks():
            self.progressed(task)

    # The connector.

    def waits(self, error: Exception, cause: str) -> float:
        """``error`` keeps the connector waiting; returns after how many seconds to retry.

        ``cause`` is the text for users. Waiting for another worker is normal, and soon over: it is
        worth a warning only if it lasts, and its pauses do not grow. Brokers that are down are
        logged once for all connectors.
        """
        self._waits.add()
        known = isinstance(error, KafkaFault | RequestError)
        level = outages.retry_level() if isinstance(error, BrokerUnavailable) else logging.WARNING
        if self._waits.worth_telling():
            story = self._story(cause, advice_for(error))
            self._remark(None, story)
            log.log(level, "%s", story, exc_info=None if known else error)
        elif self._waits.count == 1:
            level = logging.INFO if isinstance(error, Conflict) else level
            log.log(level, "%s; trying again", cause, exc_info=None if known else error)
        return FIRST_WAIT if isinstance(error, Conflict) else self._waits.pause

    def goes_on(self) -> None:
        """Nothing keeps the connector waiting any more."""
        if not self._waits.count:
            return
        told, seconds = self._waits.told, self._waits.seconds
        self._waits.clear()
        if told:
            self._remark(None, None)
            log.info("the connector continues, after %.0f s", seconds)

    def awaits_executor(self, waiting: bool) -> None:
        """Whether leases wait for a carrier and none runs. That is no failure, however long."""
        row = self._executor
        if not waiting:
            self._executor_is_there()
            return
        if not row.count:
            row.add()
        if row.worth_telling():
            story = AWAITS_EXECUTOR.format(since=row.since)
            self._remark(None, story)
            log.warning("%s", story)

    def _executor_is_there(self) -> None:
        row = self._executor
        if row.told:
            self._remark(None, None)
            log.info("Spark has an executor for the connector, after %.0f s", row.seconds)
        row.clear()

    def _remark(self, task: int | None, text: str | None) -> None:
        """Set a remark on the state of a task or, with None, of the connector."""
        if self._silent:
            return
        if task is None:
            self._shown.remark_connector(text)
        else:
            self._shown.remark_task(task, text)

    def _story(self, cause: str, advice: str) -> str:
        return (
            f"The connector has been waiting since {self._waits.since}: {cause}. Tried "
            f"{self._waits.count} times. {advice} It is retried automatically, with pauses of up "
            f"to {LONGEST_PAUSE:.0f} s."
        )


def error_text(error: Exception) -> str:
    """The text of ``error`` in a status; errors written for users need no class name."""
    return str(error) if isinstance(error, RequestError) else f"{type(error).__name__}: {error}"
