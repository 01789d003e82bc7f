"""The connector object of a runner: its config, its start and stop, and what its status says.

Calls into a connector's own code are watched, and contained: whatever they raise makes the
connector FAILED, and one that does not return is abandoned.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from penstock.config.references import Resolved
from penstock.engine.lease.lease import Lease, Limits, Membership, Range
from penstock.engine.lease.traces import trace_of
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka.clients import secret_values
from penstock.kafka.names import client_id, transactional_id
from penstock.logs.levels import in_use
from penstock.logs.secrets import hide
from penstock.logs.subject import about
from penstock.runtime.callbacks import STOP_SECONDS, CallbackHangs, contained
from penstock.runtime.config.override_policy import clients_used, overrides_in
from penstock.runtime.config.tolerance import tolerance_of
from penstock.runtime.meters.startups import Startup
from penstock.runtime.plugins import Plugin
from penstock.runtime.running.context import Context
from penstock.runtime.running.own_statuses import OwnStatuses
from penstock.runtime.running.pipelines import default_converters, pipeline_recipe
from penstock.runtime.running.reloading import PAUSE_SECONDS, ReloadWatch
from penstock.runtime.running.scheduler import REST, Next
from penstock.runtime.running.standstill import Standstill
from penstock.runtime.running.task_configs import task_configs
from penstock.runtime.states import State
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

T = TypeVar("T")


class StartedConnector(ABC):
    """A connector that is started at the first look, and again when a secret of it is renewed."""

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
        self.stored = dict(config)
        """The config as in the config topic, with its references."""
        self.plugin = plugin
        self.meter = context.metrics.of(name)
        self.failed: dict[int, str] = dict(failed or {})
        self._definition = definition
        self._providers = context.worker.rules.providers
        self._watch = ReloadWatch(self._providers, config)
        written = (s for s in definition.secrets(config) if not self._providers.refers(s))
        self._secrets = (*written, *context.connection.secrets())
        self._hidden = self._secrets
        hide(self._hidden, name)
        self._halted = threading.Event()
        self._connector: Any = None
        self._broken = False
        self._startup = Startup()
        self._recipe: Recipe | None = None
        self._tasks: list[dict[str, str]] = []
        self._shown = OwnStatuses(
            context.statuses, name, context.worker_id, context.generation, plugin.version
        )
        self._standstill = Standstill(name, self._shown, self.meter)

    @abstractmethod
    def _finish_leases(self) -> None:
        """Ask all leases to end: the connector has failed."""

    # Starting and stopping.

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

    # Its own code.

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

    # Its status.

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
        self._finish_leases()
        self._shown.connector_failed(trace, self.failed)

    def _fail_task(self, task: int, trace: str, uncommitted: tuple[Range, ...] = ()) -> None:
        with about(self.name, task):
            log.warning("the task failed: %s", trace)
        self.failed[task] = trace
        self.meter.task(task).note_failure()
        self._standstill.losses.progressed(task)
        self._shown.task_failed(task, trace, uncommitted)

    # Its tasks.

    def _live(self) -> list[int]:
        """Tasks that may run."""
        return [task for task in range(len(self._tasks)) if task not in self.failed]

    def _task_lease(
        self, task: int, lease_id: str, membership: Membership, limits: Limits
    ) -> Lease:
        """What every lease of the task has, whichever its kind."""
        assert self._recipe is not None  # noqa: S101 (made when the connector was started)
        context = self.context
        return Lease(
            lease_id,
            None,
            self.name,
            task,
            context.plugins.handed(self.plugin, self._tasks[task]),
            self._recipe,
            context.connection,
            transactional_id(context.worker.group_id, self.name, task),
            membership,
            limits,
            self._secrets,
            self._producer_settings(task),
            providers=self._providers,
            overrides=overrides_in(self.stored),
            log_levels=in_use(),
            tolerance=tolerance_of(self.config),
            consumer_settings=context.worker.clients.of("consumer"),
            admin_settings=context.worker.clients.of("admin"),
        )

    def _producer_settings(self, task: int) -> dict[str, Any]:
        named = {"client.id": client_id("producer", self.name, task)}
        return {**named, **self.context.worker.clients.of("producer")}
