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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from penstock.engine.lease import End, Lease, Limits, Membership, Report
from penstock.engine.recipe import Recipe
from penstock.engine.references import Resolved
from penstock.engine.traces import trace_of
from penstock.engine.turns import Engine, Turn, TurnBroken
from penstock.kafka import transactions
from penstock.kafka.clients import Connection, GroupAdmin, secret_values
from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.kafka.names import client_id, transactional_id
from penstock.logs.levels import in_use
from penstock.logs.secrets import hide
from penstock.logs.subject import about
from penstock.runtime.callbacks import STOP_SECONDS, CallbackHangs
from penstock.runtime.config_store import ConfigStore
from penstock.runtime.end_offsets import EndOffsets
from penstock.runtime.errors import RequestError
from penstock.runtime.metrics import Metrics
from penstock.runtime.offset_store import OffsetStore
from penstock.runtime.override_policy import clients_used, overrides_in
from penstock.runtime.pipelines import pipeline_recipe
from penstock.runtime.plugins import Plugin, Plugins, own_keys
from penstock.runtime.position_copies import PositionCopies
from penstock.runtime.reloading import PAUSE_SECONDS, ReloadWatch
from penstock.runtime.scheduler import REST, Next, Scheduler
from penstock.runtime.sink_groups import SinkGroups
from penstock.runtime.startups import Startup
from penstock.runtime.states import State, Status
from penstock.runtime.status_store import StatusStore
from penstock.runtime.tolerance import tolerance_of
from penstock.runtime.worker_config import WorkerConfig
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.errors import ConfigError, FatalError

log = logging.getLogger(__name__)

FINISH_SECONDS = 2.5
CANCEL_SECONDS = 1.5
ISOLATED_SECONDS = 5.0
FIRST_PAUSE = 0.05
PROBE_PAUSE = 5.0
MOST_LOSSES = 4
"""How many executors in a row may be lost before the task that each of them ran is blamed."""

T = TypeVar("T")


@dataclass(frozen=True)
class Context:
    """What every runner of this worker shares."""

    worker: WorkerConfig
    worker_id: str
    connection: Connection
    admin: GroupAdmin
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
    still_wanted: Callable[[str], bool]
    """Whether this worker is to run a connector, as the topics say at this moment."""
    put_tasks: Callable[[str, list[dict[str, str]]], None]
    """Have the leader store the tasks of a connector; RequestError if it did not."""
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def sink_groups(self) -> SinkGroups:
        """In which groups sinks keep their offsets."""
        return SinkGroups(self.configs, self.plugins, self.worker.rules)


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
        """With the values that its references name, once the connector was started."""
        self.plugin = plugin
        self.meter = context.metrics.of(name)
        self.unsure = True
        self.failed: dict[int, str] = dict(failed or {})
        self.stored = dict(config)
        """As the config topic has it, references and all."""
        self._definition = definition
        self._providers = context.worker.rules.providers
        self._watch = ReloadWatch(self._providers, config)
        written = (s for s in definition.secrets(config) if not self._providers.refers(s))
        self._secrets = (*written, *context.connection.secrets())
        self._hidden = self._secrets
        hide(self._hidden, name)
        self._activity = threading.Lock()
        self._halted = threading.Event()
        self._connector: Any = None
        self._broken = False
        self._startup = Startup()
        self._tasks: list[dict[str, str]] = []
        self._suspects: list[int] = []
        self._losses = 0
        self._previous: dict[int, str] = {}
        self._turn: Turn | None = None
        self._recipe: Recipe | None = None
        self._standing: Membership | None = None
        self._pause = FIRST_PAUSE

    # What the scheduler calls.

    def look(self) -> Next:
        """Start the connector if need be, and see whether there is anything to do."""
        self.meter.looks += 1
        with self._active():
            if self._halted.is_set():
                return REST
            if self._watch.changed():
                self._begin_anew()
            if self._broken:
                return self._rest()
            if self._connector is None and (begun := self._start()) is not None:
                return begun
            if not self._live():
                return self._rest()
            return self._look_for_work()

    @contextmanager
    def _active(self) -> Iterator[None]:
        """One at a time; if it was halted meanwhile, the connector is stopped in the end."""
        with self._activity:
            try:
                yield
            finally:
                if self._halted.is_set():
                    self._drop_connector()

    def _look_for_work(self) -> Next:
        return self._guarded(self._look)

    def _guarded(self, step: Callable[[], Next]) -> Next:
        try:
            return step()
        except KafkaFault as error:
            return self._later(error)
        except (CallbackHangs, ConfigError) as error:
            self._give_up(error)
            return self._rest()

    def _watched(self, callback: Callable[..., T], *args: object) -> T:
        """Call into the connector on this thread; FAILED if that does not return in time."""
        callbacks = self.context.scheduler.callbacks
        callbacks.begin(self.name, "the connector", self._give_up)
        try:
            return callback(*args)
        finally:
            callbacks.end(self.name)

    def _give_up(self, error: Exception) -> None:
        """FAILED, unless it was halted: what that means is then shown by whoever halted it."""
        if not self._halted.is_set():
            with about(self.name):
                self._fail_connector(trace_of(error, self._hidden))

    def _rest(self) -> Next:
        """Nothing to do until somebody acts, be it only that a secret is renewed."""
        return Next(delay=PAUSE_SECONDS) if self._watch.active else REST

    def turn(self) -> Next:
        """Run one turn, after making sure of the positions."""
        with self._active():
            if self._halted.is_set():
                return REST
            return self._rest() if self._broken else self._guarded(self._sure_turn)

    def _sure_turn(self) -> Next:
        # Before doubt is looked at: see Cluster.joined.
        self._standing = self.context.membership()
        if self.unsure:
            if not self.context.still_wanted(self.name):
                return Next(delay=1.0)  # until it is ended, or given back
            self._recover()
        return self._run_turn()

    def _later(self, error: KafkaFault) -> Next:
        self.unsure = True
        if isinstance(error, AccessDenied):
            self._give_up(error)
            return REST
        log.warning("%s; trying again", error)
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
        if turn is not None and turn.call_off():
            return  # whoever waits there for Spark stops the connector, too
        if turn is not None:
            turn.finish()
            if not turn.wait(FINISH_SECONDS):
                log.warning("the turn does not finish; cancelling it")
                turn.cancel()
                turn.wait(CANCEL_SECONDS)
        self._stop_connector()

    # Starting and stopping the connector object.

    def _start(self) -> Next | None:
        """Make and start the connector; FAILED with its trace if that goes wrong.

        None if it runs now, else what comes next.
        """
        try:
            tasks = self._watched(self._start_connector)
        except Exception as error:  # noqa: BLE001 (whatever it is turns the connector FAILED)
            if isinstance(error, CallbackHangs) and error.may_return:
                return Next(delay=0.5)  # a call of whoever ran before is under way
            self._give_up(error)
            return self._rest()
        if self._broken or self._halted.is_set():  # it came back, but too late
            return self._rest()
        self._startup.succeeded()
        if tasks != self.context.configs.tasks(self.name):
            try:
                self.context.put_tasks(self.name, tasks)
            except RequestError as error:
                log.warning("the tasks are not stored yet: %s; trying again", error)
                self._drop_connector()
                return Next(delay=1.0)
        if self._halted.is_set():  # and what that means may have been shown already
            return REST
        self._tasks = tasks
        self._report_running()
        return None

    def _resolve(self) -> Resolved:
        """Ask the config providers; what they know is hidden from now on."""
        self._watch.begin()
        found = self._providers.resolve(self.stored)
        self.config = found.config
        overridden = secret_values(overrides_in(found.config))
        secrets = (*self._definition.secrets(found.config), *found.secrets, *overridden)
        self._hidden = tuple(dict.fromkeys((*self._secrets, *secrets)))
        hide(self._hidden, self.name)
        if found.missing:
            log.warning("nothing to be had for %s: taken as it is", ", ".join(found.missing))
        return found

    def _check_overrides(self) -> None:
        """A config may have been stored before the worker's policy was what it is."""
        sink = issubclass(self.plugin.cls, SinkConnector)
        policy = self.context.worker.rules.overrides
        if errors := policy.errors(self.config, clients_used(self.config, sink=sink)):
            raise ConfigError("; ".join(f"{key}: {text}" for key, text in errors))

    def _begin_anew(self) -> None:
        """Restart the connector and all its tasks, those that failed too."""
        log.info("what the config refers to has changed: the connector is restarted")
        self._drop_connector()
        self._broken = False
        self.failed.clear()
        self.unsure = True

    def _start_connector(self) -> list[dict[str, str]]:
        metrics, plugins = self.context.metrics, self.context.plugins
        self._startup = metrics.connector_startups.begin()
        found = self._resolve()
        self._check_overrides()
        converters = self.context.worker.converters()
        self._recipe = pipeline_recipe(plugins, self.config, self.stored, converters)
        self._connector = self.plugin.cls()
        self._connector.start(plugins.handed(self.plugin, self.config))
        return [found.templated(self.stored, task) for task in self._task_configs()]

    def _task_configs(self) -> list[dict[str, str]]:
        maximum = int(self.config.get("tasks.max", "1"))
        tasks = self._connector.task_configs(maximum)
        if len(tasks) > maximum and self.config.get("tasks.max.enforce", "true") != "false":
            raise FatalError(
                f"The connector {self.name} has generated {len(tasks)} tasks, which is greater "
                f"than {maximum}, the maximum number of tasks it is configured to create."
            )
        task_class = self._connector.task_class
        python = f"{task_class.__module__}.{task_class.__qualname__}"
        reference = task_class.connect_class or python
        return [{**own_keys(self.plugin, task), "task.class": reference} for task in tasks]

    def _stop_connector(self) -> None:
        if not self._activity.acquire(timeout=1.0):
            log.warning("a callback does not return; leaving it behind until it does")
            return
        try:
            self._drop_connector()
        finally:
            self._activity.release()

    def _drop_connector(self) -> None:
        connector, self._connector = self._connector, None
        try:
            if connector is not None:
                callbacks = self.context.scheduler.callbacks
                callbacks.call(self.name, "stopping", connector.stop, seconds=STOP_SECONDS)
        except CallbackHangs as error:
            log.warning("%s; leaving it behind", error)
        except Exception:
            log.exception("stopping the connector failed")

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
            if state is State.RUNNING:
                self.meter.task(task).startup = self.context.metrics.task_startups.begin()
            statuses.put_task(self.name, task, self._status(state, trace))
        for task in statuses.task_ids(self.name):
            if task >= len(self._tasks):
                statuses.put_task(self.name, task, None)

    def _fail_connector(self, trace: str) -> None:
        log.warning("the connector failed: %s", trace)
        self._broken = True
        self._startup.failed()
        statuses = self.context.statuses
        statuses.put_connector(self.name, self._status(State.FAILED, trace))
        for task in statuses.task_ids(self.name):
            if task not in self.failed:
                statuses.put_task(self.name, task, self._status(State.UNASSIGNED))

    def _fail_task(self, task: int, trace: str) -> None:
        with about(self.name, task):
            log.warning("the task failed: %s", trace)
        self.failed[task] = trace
        self.meter.task(task).note_failure()
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
            self.meter.watch(turn)
            with self.context.scheduler.running(turn):
                reports = turn.run()
        except TurnBroken as broken:
            self.meter.broken(turn)
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
            self._losses = 0
            self._suspects = [t for t in self._suspects if t not in {r.task for r in reports}]

    def _take(self, report: Report) -> None:
        self.meter.task(report.task).end(report)
        self._absorb(report)
        if self.context.worker["topic.tracking.enable"]:
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
        if self._losses < MOST_LOSSES and turn.lost_executor():
            self._losses += 1
            log.warning("an executor was lost, with what it ran; trying again")
        elif self._suspects:
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
            "config": context.plugins.handed(self.plugin, self._tasks[task]),
            "pipeline": self._recipe,
            "connection": context.connection,
            "transactional_id": transactional_id(context.worker.group_id, self.name, task),
            "membership": self._standing,
            "heartbeat": context.engine.heartbeat_address,
            "limits": limits,
            "secrets": self._secrets,
            "providers": self._providers,
            "overrides": overrides_in(self.stored),
            "log_levels": in_use(),
            "tolerance": tolerance_of(self.config),
            "producer_settings": {
                "client.id": client_id("producer", self.name, task),
                **context.worker.clients.of("producer"),
            },
            "consumer_settings": context.worker.clients.of("consumer"),
            "admin_settings": context.worker.clients.of("admin"),
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
