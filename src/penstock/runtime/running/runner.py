"""A running connector: what sources and sinks have in common.

A runner lives from the moment its connector should run until it should not: pausing, stopping, a
new configuration and a restart all end it (``halt``) and may start another. It always starts
unsure of its positions, so that the previous runner is fenced before its first lease.

``look`` and ``turn`` are called by the scheduler, never two at once. ``halt`` may come from any
thread.
"""

from __future__ import annotations

import logging
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from penstock.config.references import Resolved
from penstock.engine.driver.turns import Turn, TurnBroken
from penstock.engine.lease.lease import End, Lease, Limits, Membership, Range, Report
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.traces import trace_of
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka.clients import secret_values
from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.kafka.names import client_id, transactional_id
from penstock.logs.levels import in_use
from penstock.logs.secrets import hide, scrub
from penstock.logs.subject import about
from penstock.runtime.callbacks import STOP_SECONDS, CallbackHangs, contained
from penstock.runtime.config.override_policy import clients_used, overrides_in
from penstock.runtime.config.tolerance import tolerance_of
from penstock.runtime.errors import Conflict, RequestError
from penstock.runtime.meters.loss_reasons import breakdown, loss_of
from penstock.runtime.meters.startups import Startup
from penstock.runtime.plugins import Plugin
from penstock.runtime.running.active_topics import ActiveTopics
from penstock.runtime.running.context import Context
from penstock.runtime.running.fencing import fence_tasks
from penstock.runtime.running.own_statuses import OwnStatuses
from penstock.runtime.running.pipelines import default_converters, pipeline_recipe
from penstock.runtime.running.reloading import PAUSE_SECONDS, ReloadWatch
from penstock.runtime.running.scheduler import REST, Next
from penstock.runtime.running.standstill import Standstill, error_text
from penstock.runtime.running.task_configs import task_configs
from penstock.runtime.running.verdicts import verdict
from penstock.runtime.states import State
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

FINISH_SECONDS = 2.5
CANCEL_SECONDS = 1.5
ISOLATED_SECONDS = 5.0
FIRST_PAUSE = 0.05
PROBE_PAUSE = 5.0
MOST_LOSSES = 4
"""How many executors in a row may be lost before the tasks that they ran are blamed."""

T = TypeVar("T")


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
        """The config with its references resolved, once the connector was started."""
        self.plugin = plugin
        self.meter = context.metrics.of(name)
        self.unsure = True
        self.failed: dict[int, str] = dict(failed or {})
        self.stored = dict(config)
        """The config as in the config topic, with its references."""
        self._definition = definition
        self._providers = context.worker.rules.providers
        self._watch = ReloadWatch(self._providers, config)
        written = (s for s in definition.secrets(config) if not self._providers.refers(s))
        self._secrets = (*written, *context.connection.secrets())
        self._hidden = self._secrets
        hide(self._hidden, name)
        self._active_topics = ActiveTopics(
            name, context.configs, context.statuses, bool(context.worker["topic.tracking.enable"])
        )
        self._activity = threading.Lock()
        self._halted = threading.Event()
        self._connector: Any = None
        self._broken = False
        self._startup = Startup()
        self._tasks: list[dict[str, str]] = []
        self._suspects: list[int] = []
        self._losses = 0
        self._previous: dict[int, str] = {}
        self._paces: dict[int, Pace] = {}
        self._turn: Turn | None = None
        self._recipe: Recipe | None = None
        self._standing: Membership | None = None
        self._pause = FIRST_PAUSE
        self._shown = OwnStatuses(
            context.statuses, name, context.worker_id, context.generation, plugin.version
        )
        self._standstill = Standstill(name, self._shown, self.meter)

    # Called by the scheduler.

    def look(self) -> Next:
        """Start the connector if necessary, and check whether there is anything to do."""
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
        """One at a time; if it was halted in between, the connector is stopped at the end."""
        with self._activity:
            try:
                yield
            finally:
                if self._halted.is_set():
                    self._drop_connector()

    def _look_for_work(self) -> Next:
        losses, tasks = self._standstill.losses, self._candidates()
        if not losses.due(tasks):
            return Next(delay=losses.pause(tasks))
        return self._guarded(self._look_while_due)

    def _look_while_due(self) -> Next:
        found = self._look()
        if not found.turn:
            self._standstill.idle()
        return found

    def _guarded(self, step: Callable[[], Next]) -> Next:
        try:
            found = step()
        except (CallbackHangs, ConfigError, AccessDenied) as error:
            self.unsure = True
            self._give_up(error)
            return self._rest()
        except Exception as error:  # noqa: BLE001 (one connector's loop must not end by a defect)
            return self._later(error)
        if not found.turn:  # otherwise the turn shows whether Kafka answers
            self._standstill.goes_on()
        return found

    def _watched(self, callback: Callable[..., T], *args: object) -> T:
        """Call into the connector on this thread; FAILED if that does not return in time."""
        callbacks = self.context.scheduler.callbacks
        callbacks.begin(self.name, "the connector", self._give_up)
        try:
            return contained(callback, *args)
        finally:
            callbacks.end(self.name)

    def _give_up(self, error: Exception) -> None:
        """FAILED, unless it was halted: then the caller of ``halt`` sets the status."""
        if not self._halted.is_set():
            with about(self.name):
                self._fail_connector(trace_of(error, self._hidden))

    def _rest(self) -> Next:
        """Nothing to do until a user acts, or a secret is renewed."""
        return Next(delay=PAUSE_SECONDS) if self._watch.active else REST

    def turn(self) -> Next:
        """Run one turn, after making sure of the positions."""
        with self._active():
            if self._halted.is_set():
                return REST
            return self._rest() if self._broken else self._guarded(self._sure_turn)

    def _sure_turn(self) -> Next:
        # Before the doubt is checked: see Cluster.joined.
        self._standing = self.context.membership()
        if self.unsure:
            if not self.context.still_wanted(self.name):  # until it is ended, or comes back
                raise Conflict("it is assigned to another worker, or to none")
            self._recover()
        return self._run_turn()

    def _later(self, error: Exception, doing: str = "") -> Next:
        """Nothing can be done now: retry, less and less often, and report it if that lasts."""
        self.unsure = True
        cause = scrub(f"{doing}{error_text(error)}", self._hidden)
        return Next(delay=self._standstill.waits(error, cause))

    def halt(self) -> None:
        """End the loop: no new lease, finish the one that runs, after 2.5 s cancel it.

        Does not fence: the next runner does, before it trusts any position.
        """
        with about(self.name):
            self._halt()

    def _halt(self) -> None:
        self._halted.set()
        self._standstill.fall_silent()
        self.context.scheduler.forget(self)
        turn = self._turn
        if turn is not None and turn.call_off():
            return  # the thread that waits there for Spark also stops the connector
        if turn is not None:
            turn.finish()
            if not turn.wait(FINISH_SECONDS):
                log.warning("the turn does not finish; cancelling it")
                turn.cancel()
                turn.wait(CANCEL_SECONDS)
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

    def _resolve(self) -> Resolved:
        """Ask the config providers; their values are hidden from now on."""
        self._watch.begin()
        found = self._providers.resolve(self.stored)
        self.config = found.config
        overridden = secret_values(overrides_in(found.config))
        secrets = (*self._definition.secrets(found.config), *found.secrets, *overridden)
        self._hidden = tuple(dict.fromkeys((*self._secrets, *secrets)))
        hide(self._hidden, self.name)
        if found.missing:
            log.warning("could not resolve %s; leaving it unchanged", ", ".join(found.missing))
        return found

    def _check_overrides(self) -> None:
        """A config may have been stored before the worker's policy was changed."""
        sink = issubclass(self.plugin.cls, SinkConnector)
        policy = self.context.worker.rules.overrides
        if errors := policy.errors(self.config, clients_used(self.config, sink=sink)):
            raise ConfigError("; ".join(f"{key}: {text}" for key, text in errors))
        self.context.exclusive_targets.refuse_taken(self.name, self.config)

    def _begin_anew(self) -> None:
        """Restart the connector and all its tasks, including failed ones."""
        log.info("a value that the config refers to has changed: restarting the connector")
        self._drop_connector()
        self._broken = False
        self.failed.clear()
        self.unsure = True

    def _start_connector(self) -> list[dict[str, str]]:
        metrics, plugins = self.context.metrics, self.context.plugins
        self._startup = metrics.connector_startups.begin()
        found = self._resolve()
        self._check_overrides()
        converters = default_converters(self.plugin, self.context.worker.converters())
        self._recipe = pipeline_recipe(plugins, self.config, self.stored, converters)
        self._connector = self.plugin.cls()
        self._connector.start(plugins.handed(self.plugin, self.config))
        tasks = task_configs(self.name, self._connector, self.plugin, self.config)
        return [found.templated(self.stored, task) for task in tasks]

    def _stop_connector(self) -> None:
        if not self._activity.acquire(timeout=1.0):
            log.warning("a callback does not return; abandoning it until it does")
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
            log.warning("%s; abandoning it", error)
        except Exception:
            log.exception("stopping the connector failed")

    # States.

    def _report_running(self) -> None:
        log.info("the connector is %s with %d tasks", State.RUNNING, len(self._tasks))
        for task in self._live():
            self.meter.task(task).startup = self.context.metrics.task_startups.begin()
        self._shown.running(len(self._tasks), self.failed)
        self._standstill.begin_anew()

    def _fail_connector(self, trace: str) -> None:
        log.warning("the connector failed: %s", trace)
        self._broken = True
        self._startup.failed()
        self._shown.connector_failed(trace, self.failed)

    def _fail_task(self, task: int, trace: str, uncommitted: tuple[Range, ...] = ()) -> None:
        with about(self.name, task):
            log.warning("the task failed: %s", trace)
        self.failed[task] = trace
        self.meter.task(task).note_failure()
        self._standstill.losses.progressed(task)
        self._shown.task_failed(task, trace, uncommitted)

    def _live(self) -> list[int]:
        """Tasks that may run."""
        return [task for task in range(len(self._tasks)) if task not in self.failed]

    # Turns.

    @abstractmethod
    def _look(self) -> Next:
        """Whether there is anything to do."""

    @abstractmethod
    def _plan(self, tasks: Sequence[int], limits: Limits) -> list[Lease]:
        """Leases for these tasks; tasks with nothing to do may be left out."""

    @abstractmethod
    def _absorb(self, report: Report) -> None:
        """Adopt the positions that a lease has committed."""

    @abstractmethod
    def _read_positions(self) -> None:
        """Read the positions again, after fencing."""

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
        """All tasks in one job; after a crash, each suspect once in a separate short job."""
        limits = self.context.worker.limits()
        due = self._standstill.losses.due(self._candidates())
        if not self._living_suspects():
            return [(due, limits)]
        short = replace(limits, lease_seconds=min(ISOLATED_SECONDS, limits.lease_seconds))
        return [(due, short)]

    def _candidates(self) -> list[int]:
        """The tasks of the next turn, without those that have to pause."""
        return self._living_suspects()[:1] or self._live()

    def _living_suspects(self) -> list[int]:
        return [task for task in self._suspects if task not in self.failed]

    def _run_leases(self, leases: Sequence[Lease]) -> int:
        turn = self.context.engine.turn(leases)
        self._turn = turn
        try:
            if self._halted.is_set():
                return 0
            self._standstill.goes_on()
            self.meter.watch(turn, self._standstill.progressed)
            self._active_topics.watch(turn)
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
        """If Spark retries by itself, a re-attempt is the only sign of a crash."""
        again = [report.task for report in reports if report.end is End.PLAN_AGAIN]
        if again:
            self._suspect(again, turn, TurnBroken("crashed", "its first attempt ended abruptly"))
        else:
            self._losses = 0
            self._suspects = [t for t in self._suspects if t not in {r.task for r in reports}]

    def _take(self, report: Report) -> None:
        self.meter.task(report.task).end(report)
        if report.pace is not None:
            self._paces[report.task] = report.pace
        self._absorb(report)
        self._active_topics.note(report.task, report.topics)
        if report.end is End.DONE or report.tally.transactions:
            self._standstill.progressed(report.task)
        if report.end is End.DONE:
            self._previous[report.task] = report.lease_id
        else:
            self.unsure = True
            with about(self.name, report.task):
                log.info("the lease ended: %s %s", report.end, report.trace)
        if (reason := loss_of(report)) is not None:
            self._standstill.lost(report.task, reason, report.trace)
        if report.end is End.FAILED:
            self._fail_task(report.task, report.trace, report.uncommitted)

    def _blame(self, turn: Turn, broken: TurnBroken) -> None:
        """Rule 8: a crash or a hang is no task's fault until each task has run alone."""
        self.unsure = True
        log.warning("the turn %s%s", broken, _places(turn) if broken.kind == "expired" else "")
        if (reason := breakdown(broken)) is not None:
            for lease in turn.leases:
                self._standstill.lost(lease.task, reason, broken.detail)
        if broken.kind not in ("crashed", "expired"):
            return
        self._suspect([lease.task for lease in turn.leases], turn, broken)

    def _suspect(self, tasks: list[int], turn: Turn, broken: TurnBroken) -> None:
        if self._losses < MOST_LOSSES and turn.lost_executor():
            self._losses += 1
            log.warning("an executor was lost, with the tasks it ran; trying again")
        elif self._suspects:
            self._suspects.remove(tasks[0])
            self._fail_task(tasks[0], verdict(turn, broken))
        else:
            self._suspects = tasks

    def _after(self, moved: int) -> Next:
        """Immediately while there is work; otherwise with growing pauses.

        If a lease was lost, ``look`` knows how long its task has to pause, if at all.
        """
        if moved or self._suspects or self.unsure:
            self._pause = FIRST_PAUSE
            return Next(delay=0.0)
        idle, left = self._idle(), self._standstill.losses.pause(self._candidates())
        return min(idle, Next(delay=left)) if left else idle

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
            "pace": self._paces.get(task, Pace()),
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


def _places(turn: Turn) -> str:
    """Where the tasks of a turn hang, as far as they have reported."""
    places = ((lease.task, turn.watch.stuck(lease.lease_id)) for lease in turn.leases)
    return "".join(f". Task {task} hangs here:\n{place}" for task, place in places if place)
