"""A running connector: what both kinds share.

A runner lives from the moment its connector should run until it should not: pausing, stopping, a
new configuration and a restart all end it (``halt``) and perhaps begin another. It always begins
unsure of its positions, so that whoever ran before is fenced before its first lease.

``look`` and ``turn`` are called by the scheduler, never two at once. ``halt`` may come from any
thread.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.engine.lease import End, Lease, Limits, Membership, Report
from penstock.engine.traces import trace_of
from penstock.engine.turns import Engine, Turn, TurnBroken
from penstock.kafka import transactions
from penstock.kafka.clients import Connection
from penstock.kafka.errors import KafkaFault
from penstock.kafka.names import client_id, transactional_id
from penstock.logs.levels import in_use
from penstock.logs.secrets import hide
from penstock.logs.subject import about
from penstock.runtime.config_store import ConfigStore
from penstock.runtime.end_offsets import EndOffsets
from penstock.runtime.offset_store import OffsetStore
from penstock.runtime.pipelines import build_pipeline
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.position_copies import PositionCopies
from penstock.runtime.scheduler import REST, Next, Scheduler
from penstock.runtime.states import State, Status
from penstock.runtime.status_store import StatusStore
from penstock.runtime.worker_config import WorkerConfig
from penstock.sdk.config import ConfigDef
from penstock.sdk.errors import FatalError

log = logging.getLogger(__name__)

FINISH_SECONDS = 2.5
CANCEL_SECONDS = 1.5
ISOLATED_SECONDS = 5.0
FIRST_PAUSE = 0.05
PROBE_PAUSE = 5.0


@dataclass(frozen=True)
class Context:
    """What every runner of this worker shares."""

    worker: WorkerConfig
    worker_id: str
    connection: Connection
    admin: AdminClient
    plugins: Plugins
    engine: Engine
    scheduler: Scheduler
    configs: ConfigStore
    offsets: OffsetStore
    statuses: StatusStore
    copies: PositionCopies
    ends: EndOffsets
    membership: Callable[[], Membership]
    generation: Callable[[], int]


class Runner(ABC):
    """The loop of one connector."""

    def __init__(
        self,
        context: Context,
        name: str,
        config: Mapping[str, str],
        plugin: Plugin,
        definition: ConfigDef,
        *,
        failed: Mapping[int, str] | None = None,
    ) -> None:
        self.name = name
        self.context = context
        self.config = dict(config)
        self.plugin = plugin
        self.unsure = True
        self.failed: dict[int, str] = dict(failed or {})
        self._secrets = (*definition.secrets(config), *context.connection.secrets())
        hide(self._secrets, name)
        self._activity = threading.Lock()
        self._halted = threading.Event()
        self._connector: Any = None
        self._broken = False
        self._tasks: list[dict[str, str]] = []
        self._suspects: list[int] = []
        self._previous: dict[int, str] = {}
        self._turn: Turn | None = None
        self._pause = FIRST_PAUSE

    # What the scheduler calls.

    def look(self) -> Next:
        """Start the connector if need be, and see whether there is anything to do."""
        with self._activity:
            if self._halted.is_set() or self._broken:
                return REST
            if self._connector is None and not self._start():
                return REST
            if not self._live():
                return REST
            try:
                return self._look()
            except KafkaFault as error:
                return self._later(error)

    def turn(self) -> Next:
        """Run one turn, after making sure of the positions."""
        with self._activity:
            if self._halted.is_set():
                return REST
            try:
                if self.unsure:
                    self._recover()
                return self._run_turn()
            except KafkaFault as error:
                return self._later(error)

    def _later(self, error: KafkaFault) -> Next:
        log.warning("%s; trying again", error)
        self.unsure = True
        return Next(delay=1.0)

    def halt(self) -> None:
        """End the loop: no new lease, finish the one that runs, after 2.5 s cancel it.

        Does not fence: whoever comes next does, before it trusts any position.
        """
        with about(self.name):
            self._halt()

    def _halt(self) -> None:
        self._halted.set()
        self.context.scheduler.forget(self)
        turn = self._turn
        if turn is not None:
            turn.finish()
            if not turn.wait(FINISH_SECONDS):
                log.warning("the turn does not finish; cancelling it")
                turn.cancel()
                turn.wait(CANCEL_SECONDS)
        self._stop_connector()

    def abandon(self) -> None:
        """End the loop at once, without waiting: this worker leads no longer."""
        self._halted.set()
        self.context.scheduler.forget(self)
        if self._turn is not None:
            self._turn.cancel()

    # Starting and stopping the connector object.

    def _start(self) -> bool:
        """Make and start the connector; FAILED with its trace if that goes wrong."""
        try:
            self._connector = self.plugin.cls()
            self._connector.start(self.config)
            tasks = self._task_configs()
        except Exception as error:  # noqa: BLE001 (whatever it is turns the connector FAILED)
            self._fail_connector(trace_of(error, self._secrets))
            return False
        if tasks != self.context.configs.tasks(self.name):
            self.context.configs.put_tasks(self.name, tasks)
        self._tasks = tasks
        self._report_running()
        return True

    def _task_configs(self) -> list[dict[str, str]]:
        maximum = int(self.config.get("tasks.max", "1"))
        tasks = self._connector.task_configs(maximum)
        if len(tasks) > maximum and self.config.get("tasks.max.enforce", "true") != "false":
            raise FatalError(
                f"The connector {self.name} has generated {len(tasks)} tasks, which is greater "
                f"than {maximum}, the maximum number of tasks it is configured to create."
            )
        task_class = self._connector.task_class
        reference = f"{task_class.__module__}.{task_class.__qualname__}"
        return [{**task, "task.class": reference} for task in tasks]

    def _stop_connector(self) -> None:
        if not self._activity.acquire(timeout=1.0):
            log.warning("a callback does not return; leaving it behind")
            return
        try:
            if self._connector is not None:
                self._connector.stop()
        except Exception:
            log.exception("stopping the connector failed")
        finally:
            self._connector = None
            self._activity.release()

    # States.

    def _status(self, state: State, trace: str | None = None) -> Status:
        context = self.context
        return Status(
            state, context.worker_id, context.generation(), trace or None, self.plugin.version
        )

    def _report_running(self) -> None:
        log.info("the connector is %s with %d tasks", State.RUNNING, len(self._tasks))
        statuses = self.context.statuses
        statuses.put_connector(self.name, self._status(State.RUNNING))
        for task in range(len(self._tasks)):
            trace = self.failed.get(task)
            state = State.FAILED if task in self.failed else State.RUNNING
            statuses.put_task(self.name, task, self._status(state, trace))
        for task in statuses.task_ids(self.name):
            if task >= len(self._tasks):
                statuses.put_task(self.name, task, None)

    def _fail_connector(self, trace: str) -> None:
        log.warning("the connector failed: %s", trace)
        self._broken = True
        statuses = self.context.statuses
        statuses.put_connector(self.name, self._status(State.FAILED, trace))
        for task in statuses.task_ids(self.name):
            if task not in self.failed:
                statuses.put_task(self.name, task, self._status(State.UNASSIGNED))

    def _fail_task(self, task: int, trace: str) -> None:
        with about(self.name, task):
            log.warning("the task failed: %s", trace)
        self.failed[task] = trace
        self.context.statuses.put_task(self.name, task, self._status(State.FAILED, trace))

    def _live(self) -> list[int]:
        """Tasks that may run."""
        return [task for task in range(len(self._tasks)) if task not in self.failed]

    # Turns.

    @abstractmethod
    def _look(self) -> Next:
        """Whether there is anything to do."""

    @abstractmethod
    def _plan(self, tasks: Sequence[int], limits: Limits) -> list[Lease]:
        """Leases for these tasks; those with nothing to do may be left out."""

    @abstractmethod
    def _absorb(self, report: Report) -> None:
        """Take over the positions that a lease has committed."""

    @abstractmethod
    def _read_positions(self) -> None:
        """Read the positions anew, after fencing."""

    def _recover(self) -> None:
        """Rule 1: abort and fence every task id, then read what is really committed."""
        count = max(len(self._tasks), self.context.configs.fenced_tasks(self.name))
        fence_tasks(self.context, self.name, count)
        self._previous = {}
        self._read_positions()
        self.unsure = False

    def _run_turn(self) -> Next:
        moved = 0
        for tasks, limits in self._groups():
            leases = self._plan(tasks, limits)
            if leases and not self._halted.is_set():
                moved += self._run_leases(leases)
            if self.unsure:
                break
        return self._after(moved)

    def _groups(self) -> list[tuple[list[int], Limits]]:
        """All tasks in one job; after a crash, each suspect once in a short job of its own."""
        limits = self.context.worker.limits()
        suspects = [task for task in self._suspects if task not in self.failed]
        if not suspects:
            return [(self._live(), limits)]
        short = replace(limits, lease_seconds=min(ISOLATED_SECONDS, limits.lease_seconds))
        return [([suspects[0]], short)]

    def _run_leases(self, leases: Sequence[Lease]) -> int:
        turn = self.context.engine.turn(leases)
        self._turn = turn
        try:
            if self._halted.is_set():
                return 0
            with self.context.scheduler.running(turn):
                reports = turn.run()
        except TurnBroken as broken:
            self._blame(turn, broken)
            return 0
        finally:
            self._turn = None
        for report in reports:
            self._take(report)
        self._blame_reattempted(turn, reports)
        return sum(report.records for report in reports)

    def _blame_reattempted(self, turn: Turn, reports: Sequence[Report]) -> None:
        """Where Spark tries again by itself, a re-attempt is all that is seen of a crash."""
        again = [report.task for report in reports if report.end is End.PLAN_AGAIN]
        if again:
            self._suspect(again, turn, TurnBroken("crashed", "its first attempt ended abruptly"))
        else:
            self._suspects = [t for t in self._suspects if t not in {r.task for r in reports}]

    def _take(self, report: Report) -> None:
        self._absorb(report)
        self.context.statuses.add_topics(self.name, report.task, report.topics)
        if report.end is End.DONE:
            self._previous[report.task] = report.lease_id
        else:
            self.unsure = True
            with about(self.name, report.task):
                log.info("the lease ended: %s %s", report.end, report.trace)
        if report.end is End.FAILED:
            self._fail_task(report.task, report.trace)

    def _blame(self, turn: Turn, broken: TurnBroken) -> None:
        """Rule 8: a crash or a hang tells nobody's fault until each task has run alone."""
        self.unsure = True
        log.warning("the turn %s", broken)
        if broken.kind not in ("crashed", "expired"):
            return
        self._suspect([lease.task for lease in turn.leases], turn, broken)

    def _suspect(self, tasks: list[int], turn: Turn, broken: TurnBroken) -> None:
        if self._suspects:
            self._suspects.remove(tasks[0])
            self._fail_task(tasks[0], _verdict(turn, broken))
        else:
            self._suspects = tasks

    def _after(self, moved: int) -> Next:
        """At once while there is work; else with growing pauses."""
        if moved or self._suspects:
            self._pause = FIRST_PAUSE
            return Next(delay=0.0)
        return self._idle()

    def _idle(self) -> Next:
        longest = self.context.worker["look.interval.max.ms"] / 1000
        self._pause = min(self._pause * 2, longest)
        return Next(delay=self._pause)

    def _lease_fields(self, task: int, limits: Limits) -> dict[str, Any]:
        context = self.context
        return {
            "lease_id": uuid.uuid4().hex,
            "previous": self._previous.get(task),
            "connector": self.name,
            "task": task,
            "config": self._tasks[task],
            "pipeline": build_pipeline(context.plugins, self.config, context.worker.converters()),
            "connection": context.connection,
            "transactional_id": transactional_id(context.worker.group_id, self.name, task),
            "membership": context.membership(),
            "heartbeat": context.engine.heartbeat_address,
            "limits": limits,
            "secrets": self._secrets,
            "log_levels": in_use(),
            "producer_settings": {"client.id": client_id("producer", self.name, task)},
            "task_class": self._connector.task_class,
        }


def _verdict(turn: Turn, broken: TurnBroken) -> str:
    if broken.kind == "expired":
        where = turn.watch.stuck(turn.leases[0].lease_id)
        return (
            f"FatalError: the task did not come back within {turn.watch.age:.0f} s and was "
            f"cancelled. It hangs here:\n{where}"
        )
    return (
        "FatalError: the task's process ended abruptly (os._exit, a signal or out of memory): "
        f"{broken.detail}"
    )


def fence_tasks(context: Context, name: str, count: int) -> None:
    """Abort and fence whatever tasks 0 … count-1 of a connector have open, anywhere."""
    began = time.monotonic()
    group = context.worker.group_id
    ids = [transactional_id(group, name, task) for task in range(max(1, count))]
    transactions.fence(context.connection, ids)
    log.debug("fenced %d transactional ids in %.2f s", len(ids), time.monotonic() - began)
