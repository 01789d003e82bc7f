"""Every action on the cluster: REST, command line and the rest are thin wrappers of this.

Requests on one connector are carried out one after the other; requests on different connectors do
not wait for each other. Answers are JSON-ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from penstock.logs.subject import about
from penstock.runtime.actions import Actions
from penstock.runtime.cluster.cluster import Cluster
from penstock.runtime.cluster.peers import Answer, NotLeading
from penstock.runtime.errors import NO_LEADER, BadRequest, Conflict, NotFound
from penstock.runtime.offsets_api import OffsetsApi
from penstock.runtime.own_answers import OwnAnswers
from penstock.runtime.running.beginnings import await_tasks
from penstock.runtime.running.connector_control import VERBS
from penstock.runtime.running.context import Context
from penstock.runtime.running.restarts import RestartPlan
from penstock.runtime.states import Target
from penstock.runtime.validation.admission import Admission, named
from penstock.runtime.views.metrics_text import MetricsText
from penstock.runtime.views.metrics_view import MetricsView
from penstock.runtime.views.plan_view import PlanView
from penstock.runtime.views.reachability import Reachability
from penstock.runtime.views.used_topics import UsedTopics
from penstock.runtime.views.views import Views
from penstock.runtime.views.watched import Watch

Lock = Callable[[str], AbstractContextManager[Any]]


class Herder:
    """Everything users can do with the cluster. Thread-safe."""

    def __init__(
        self, own: OwnAnswers, context: Context, cluster: Cluster, cluster_id: str, lock: Lock
    ) -> None:
        """The stores have been read. ``lock`` is that of each connector, for all its changes."""
        self._own = own
        self._context = context
        self._cluster = cluster
        self._cluster_id = cluster_id
        self._lock = lock
        self._control = cluster.leadership.control
        self._assignments = told = cluster.leadership.assignments
        self._views = Views(context, context.plugins)
        self._actions = Actions(context, told.assigner, self._control, told.peers)
        self._admission = Admission(own.validation, context.sink_groups, context.exclusive_targets)
        self._offsets = OffsetsApi(context, context.plugins)
        self._reachable = Reachability(context.admin)
        self._used = UsedTopics(context)
        watch = Watch(context, cluster.runners.runner)
        self._metrics = MetricsView(context, watch)
        self._plans = PlanView(context, cluster.runners.runner)
        self._metrics_text = MetricsText(context, watch, cluster)

    @contextmanager
    def _changing(self, name: str) -> Iterator[None]:
        """Holds the lock, for a request; NotLeading if this worker is not the leader."""
        self._must_lead()
        with self._lock(name), about(name):
            yield

    def leads(self) -> bool:
        """Whether this worker is the leader at this moment."""
        return self._cluster.leading

    def _must_lead(self) -> None:
        if not self._cluster.leading:
            raise NotLeading(NO_LEADER)
        if self._context.configs.session_keys.due:
            self._assignments.assigner.renew_session_key()

    # Other workers.

    def verified(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> str | None:
        """The role of a request signed by a worker of this cluster; None if it is not."""
        return self._assignments.peers.verified(method, target, body, headers)

    def forward(self, method: str, target: str, body: bytes, role: str) -> Answer:
        """Let the leader answer what this worker answered with NotLeading."""
        answer = self._assignments.peers.forward(method, target, body, role)
        # The client will look here next, and must find what was done there.
        self._context.configs.log.read_to_end()
        return answer

    def do_as_told(self, name: str, verb: str, body: Any) -> None:
        """What the leader wants done with a connector of this worker."""
        if verb not in VERBS:
            raise NotFound(f"Unknown verb '{verb}'.")
        self._assignments.catch_up()
        with self._lock(name), about(name):
            self._control.do(verb, name, body)

    def take_tasks(self, name: str, tasks: list[dict[str, str]], worker: str) -> None:
        """Store the tasks of a connector that another worker runs."""
        self._must_lead()
        if self._assignments.roster.owner(name) != worker:
            raise Conflict(f"Connector {name} is no longer assigned to that worker.")
        self._assignments.store_tasks(name, tasks)

    # The worker itself.

    def root(self) -> dict[str, str]:
        """Versions, the id of the Kafka cluster and, once it runs, Spark's application."""
        return {**self._own.root(), "kafka_cluster_id": self._cluster_id, **self._views.spark()}

    def health(self) -> tuple[str, str]:
        """("healthy" | "starting" | "unhealthy", and why)."""
        if not self._reachable():
            return "unhealthy", "Kafka does not answer. The worker continues when it does."
        return self._cluster.health()

    def loggers(self) -> dict[str, Any]:
        """The levels of this worker's loggers."""
        return self._own.loggers()

    def logger(self, name: str) -> dict[str, Any]:
        """The level of one logger."""
        return self._own.logger(name)

    def set_logger_level(self, name: str, level: str | None) -> list[str]:
        """Change the level of a logger and of those below it; the names of those that changed."""
        return self._own.set_logger_level(name, level)

    def metrics_text(self) -> str:
        """Metrics of this worker's connectors, in Prometheus' text format."""
        return self._metrics_text.page()

    def set_cluster_logger_level(self, name: str, level: str | None) -> None:
        """Change the level of a logger on every worker of the cluster."""
        self._context.configs.put_logger_level(name, self._own.levels.checked(level))

    # Connectors.

    def connectors(self) -> list[str]:
        """The names of all connectors."""
        return self._context.configs.names()

    def create(
        self, name: str, config: Mapping[str, str], initial_state: str | None = None
    ) -> dict[str, Any]:
        """Create a connector; Conflict if there is one of this name."""
        self._must_lead()
        target = Target.initial(initial_state.upper() if initial_state else None)
        config = named(name, config)
        self._admission.refuse_invalid(name, config)
        with self._admission.claiming(name, config), self._changing(name):
            if self._context.configs.config(name) is not None:
                raise Conflict(f"Connector {name} already exists").advising(
                    "Choose another name, or change it with `penstock apply -f FILE`."
                )
            self._actions.create(name, config, None if initial_state is None else target)
        return self._created(name)

    def put_config(self, name: str, config: Mapping[str, str]) -> tuple[bool, dict[str, Any]]:
        """Create a connector or change its configuration; (whether it was created, its info)."""
        self._must_lead()
        config = named(name, config)
        self._admission.refuse_invalid(name, config)
        with self._admission.claiming(name, config), self._changing(name):
            before = self._context.configs.config(name)
            if before is None:
                self._actions.create(name, config, None)
            elif before != config:
                self._actions.reconfigure(name, config)
        if before is not None:
            return False, self._views.info(name)
        return True, self._created(name)

    def _created(self, name: str) -> dict[str, Any]:
        """The answer about a new connector: as in Kafka Connect, without its tasks."""
        await_tasks(self._context.configs, self._context.statuses, name)
        return {**self._views.info(name), "tasks": []}

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> dict[str, Any]:
        """Change some keys; None deletes a key. The result is validated as a whole."""
        with self._changing(name):
            merged: dict[str, str | None] = {**self._views.config(name), **patch}
            config = {k: v for k, v in merged.items() if v is not None}
            return self.put_config(name, config)[1]

    def delete(self, name: str) -> None:
        """Delete a connector. Its offsets stay."""
        with self._changing(name):
            self._views.config(name)
            self._actions.delete(name)

    def info(self, name: str) -> dict[str, Any]:
        """Name, configuration, tasks and type."""
        return self._views.info(name)

    def config(self, name: str) -> dict[str, str]:
        """The configuration as it was sent."""
        return self._views.config(name)

    def status(self, name: str) -> dict[str, Any]:
        """States of the connector and its tasks."""
        return self._views.status(name)

    def metrics(self, name: str) -> dict[str, Any]:
        """Rates, times, errors, restarts, and positions."""
        return self._metrics.metrics(name)

    def plan(self, name: str) -> dict[str, Any]:
        """Spark's plan of a connector that is a query of Spark's; NotFound if there is none."""
        return self._plans.plan(name)

    def tasks(self, name: str) -> list[dict[str, Any]]:
        """The tasks with their configurations."""
        return self._views.tasks(name)

    def task_status(self, name: str, task: int) -> dict[str, Any]:
        """The state of one task."""
        return self._views.task_status(name, task)

    def topics(self, name: str) -> dict[str, Any]:
        """The topics that the connector has used; Forbidden if they are not tracked."""
        return self._used.topics(name)

    def reset_topics(self, name: str) -> None:
        """Forget the topics that the connector has used; Forbidden if that is disabled."""
        self._used.reset(name)

    # Lifecycle.

    def pause(self, name: str) -> None:
        """Ask for PAUSED."""
        with self._changing(name):
            self._known(name)
            self._actions.pause(name)

    def resume(self, name: str) -> None:
        """Ask for RUNNING."""
        with self._changing(name):
            self._known(name)
            self._actions.resume(name)

    def stop(self, name: str) -> None:
        """Stop: when this returns, no task of the connector runs or can commit."""
        with self._changing(name):
            self._known(name)
            self._actions.stop(name)

    def _known(self, name: str) -> None:
        if self._context.configs.config(name) is None:
            raise NotFound(f"Unknown connector {name}")

    def restart(
        self, name: str, include_tasks: bool = False, only_failed: bool = False
    ) -> dict[str, Any] | None:
        """Restart the connector object, and with flags its tasks too; then its planned status."""
        with self._changing(name):
            if self._context.configs.config(name) is None:
                raise NotFound(f"Unknown connector: {name}")
            flagged = include_tasks or only_failed
            if flagged and self._context.statuses.connector(name) is None:
                raise NotFound(f"Status for connector {name} not found")
            plan = RestartPlan.of(self._context.statuses, name, include_tasks, only_failed)
            shown = plan.show(self._views.status(name)) if flagged else None
            self._actions.restart(name, plan)
            return shown

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task."""
        with self._changing(name):
            if self._context.configs.config(name) is None:
                raise NotFound(f"Unknown connector: {name}")
            if not 0 <= task < len(self._context.configs.tasks(name)):
                raise NotFound(f"Unknown task: {name}-{task}")
            self._actions.restart(name, RestartPlan(connector=False, tasks=frozenset({task})))

    # Offsets.

    def offsets(self, name: str) -> dict[str, Any]:
        """The connector's offsets; in any state."""
        self._views.config(name)
        with about(name):
            return self._offsets.list(name)

    def alter_offsets(self, name: str, offsets: list[Any]) -> str:
        """Set some offsets, None resets one; only while STOPPED. The message for the user."""
        if not offsets:
            raise BadRequest(
                "Partitions / offsets need to be provided for an alter offsets request"
            )
        with self._changing(name):
            self._views.config(name)
            return self._offsets.alter(name, offsets)

    def reset_offsets(self, name: str) -> str:
        """Forget all offsets; only while STOPPED. The message for the user."""
        with self._changing(name):
            self._views.config(name)
            return self._offsets.reset(name)

    # Plugins.

    def plugins(self, connectors_only: bool = True) -> list[dict[str, str]]:
        """The installed plugins."""
        return self._own.plugins(connectors_only)

    def plugin_config(self, plugin: str) -> list[dict[str, Any]]:
        """The config keys of a plugin."""
        return self._own.plugin_config(plugin)

    def validate(self, plugin: str, config: Mapping[str, str | None]) -> dict[str, Any]:
        """Validate a configuration; errors are part of the answer."""
        return self._own.validate(plugin, config)
