"""Every action on the cluster: REST, command line and the rest are thin wrappers of this.

Requests on one connector are carried out one after the other; requests on different connectors do
not wait for each other. Answers are JSON-ready.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from penstock.config.near_misses import near_misses
from penstock.logs.subject import about
from penstock.runtime import versions
from penstock.runtime.actions import Actions
from penstock.runtime.cluster.cluster import Cluster
from penstock.runtime.cluster.peers import NO_LEADER, Answer, NotLeading
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.errors import BadRequest, Conflict, Forbidden, NotFound, Unavailable
from penstock.runtime.loggers import Loggers
from penstock.runtime.offsets_api import OffsetsApi
from penstock.runtime.plugins import Plugins
from penstock.runtime.running.beginnings import await_tasks
from penstock.runtime.running.connector_control import VERBS
from penstock.runtime.running.context import Context
from penstock.runtime.running.restarts import RestartPlan
from penstock.runtime.states import Target
from penstock.runtime.validation.guarded_validation import GuardedValidator
from penstock.runtime.validation.own_checks import OwnChecks
from penstock.runtime.validation.validation import Validator
from penstock.runtime.views.metrics_text import MetricsText
from penstock.runtime.views.metrics_view import MetricsView
from penstock.runtime.views.plan_view import PlanView
from penstock.runtime.views.reachability import Reachability
from penstock.runtime.views.views import Views
from penstock.runtime.views.watched import Watch
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)


class Herder:
    """Everything users can do with the cluster. Thread-safe."""

    def __init__(self, plugins: Plugins, group_id: str, rules: Rules | None = None) -> None:
        self._plugins = plugins
        self._own_checks = OwnChecks()
        self._validator = Validator(plugins, group_id, rules, self._own_checks)
        self._guarded = GuardedValidator(self._validator)
        self._loggers = Loggers()
        self._locks: dict[str, threading.RLock] = defaultdict(threading.RLock)
        self._cluster: Cluster | None = None
        self._cluster_id = ""
        self._health = ("starting", "The worker is starting: it has not read its topics yet.")

    def open(self, context: Context, cluster: Cluster, cluster_id: str) -> None:
        """The stores have been read: start serving."""
        self._context = context
        self._cluster = cluster
        self._cluster_id = cluster_id
        self._views = Views(context, self._plugins)
        duties = cluster.duties
        self._hands, self._peers = duties.hands, duties.peers
        self._actions = Actions(context, duties.assigner, duties.hands, duties.peers)
        self._offsets = OffsetsApi(context, self._plugins)
        self._reachable = Reachability(context.admin)
        watch = Watch(context, cluster.runners.runner)
        self._metrics = MetricsView(context, watch)
        self._plans = PlanView(context, cluster.runners.runner)
        self._metrics_text = MetricsText(context, watch, cluster)
        context.configs.on_logger_level = self._loggers.change

    def close(self) -> None:
        """End its child processes."""
        self._own_checks.close()

    def lock(self, name: str) -> threading.RLock:
        """The lock that every change of a connector holds."""
        return self._locks[name]

    @contextmanager
    def _changing(self, name: str) -> Iterator[None]:
        """Holds the lock, for a request; NotLeading if this worker is not the leader."""
        self._must_lead()
        with self._locks[name], about(name):
            yield

    def leads(self) -> bool:
        """Whether this worker is the leader at this moment."""
        return self._cluster is not None and self._cluster.leading

    def _must_lead(self) -> None:
        if self._cluster is None or not self._cluster.leading:
            raise NotLeading(NO_LEADER)
        if self._context.configs.session_keys.due:
            self._cluster.duties.assigner.renew_session_key()

    # Other workers.

    def verified(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> str | None:
        """The role of a request signed by a worker of this cluster; None if it is not."""
        if self._cluster is None:
            return None
        return self._peers.verified(method, target, body, headers)

    def forward(self, method: str, target: str, body: bytes, role: str) -> Answer:
        """Let the leader answer what this worker answered with NotLeading."""
        answer = self._peers.forward(method, target, body, role)
        # The client will look here next, and must find what was done there.
        self._context.configs.log.read_to_end()
        return answer

    def do_as_told(self, name: str, verb: str, body: Any) -> None:
        """What the leader wants done with a connector of this worker."""
        if verb not in VERBS:
            raise NotFound(f"Unknown verb '{verb}'.")
        self._cluster_here().duties.catch_up()
        with self._locks[name], about(name):
            self._hands.do(verb, name, body)

    def take_tasks(self, name: str, tasks: list[dict[str, str]], worker: str) -> None:
        """Store the tasks of a connector that another worker runs."""
        self._must_lead()
        duties = self._cluster_here().duties
        if duties.roster.owner(name) != worker:
            raise Conflict(f"Connector {name} is no longer assigned to that worker.")
        duties.store_tasks(name, tasks)

    def _cluster_here(self) -> Cluster:
        if self._cluster is None:
            raise NotLeading(NO_LEADER)
        return self._cluster

    def set_health(self, status: str, message: str) -> None:
        """What ``health`` answers before the cluster is available."""
        self._health = (status, message)

    # The worker itself.

    def root(self) -> dict[str, str]:
        """Versions, the id of the Kafka cluster and, once it runs, Spark's application."""
        known = {**versions.described(), "kafka_cluster_id": self._cluster_id}
        return known if self._cluster is None else {**known, **self._views.spark()}

    def health(self) -> tuple[str, str]:
        """("healthy" | "starting" | "unhealthy", and why)."""
        if self._cluster is None:
            return self._health
        if not self._reachable():
            return "unhealthy", "Kafka does not answer. The worker continues when it does."
        return self._cluster.health()

    def loggers(self) -> dict[str, Any]:
        """The levels of this worker's loggers."""
        return self._loggers.all()

    def logger(self, name: str) -> dict[str, Any]:
        """The level of one logger."""
        return self._loggers.one(name)

    def set_logger_level(self, name: str, level: str | None) -> list[str]:
        """Change the level of a logger and of those below it; the names of those that changed."""
        return self._loggers.change(name, level)

    def metrics_text(self) -> str:
        """Metrics of this worker's connectors, in Prometheus' text format."""
        return self._metrics_text.page()

    def set_cluster_logger_level(self, name: str, level: str | None) -> None:
        """Change the level of a logger on every worker of the cluster."""
        checked = self._loggers.checked(level)
        if self._cluster is None:
            raise Unavailable(self._health[1])
        self._context.configs.put_logger_level(name, checked)

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
        config = self._named(name, config)
        self._refuse_invalid(name, config)
        with self._claiming(name, config), self._changing(name):
            if self._context.configs.config(name) is not None:
                raise Conflict(f"Connector {name} already exists").advising(
                    "Choose another name, or change it with `penstock apply -f FILE`."
                )
            self._actions.create(name, config, None if initial_state is None else target)
        return self._created(name)

    def put_config(self, name: str, config: Mapping[str, str]) -> tuple[bool, dict[str, Any]]:
        """Create a connector or change its configuration; (whether it was created, its info)."""
        self._must_lead()
        config = self._named(name, config)
        self._refuse_invalid(name, config)
        with self._claiming(name, config), self._changing(name):
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

    def _refuse_invalid(self, name: str, config: Mapping[str, str]) -> None:
        validated = self._guarded.validate(config)
        validated.raise_if_invalid()
        with about(name):
            for key, meant in near_misses(config, [each.name for each in validated.definition]):
                log.warning("%s is not a known key and is ignored: did you mean %s?", key, meant)
        if validated.plugin.type != "sink":
            return
        groups = self._context.sink_groups
        try:
            groups.refuse_shared(groups.named(name, config))
        except ConfigError as error:
            raise BadRequest(str(error)) from error

    def _claiming(self, name: str, config: Mapping[str, str]) -> AbstractContextManager[None]:
        return self._context.exclusive_targets.claimed(name, config)

    def _named(self, name: str, config: Mapping[str, str]) -> dict[str, str]:
        given = config.get("name")
        named = {**config, "name": name if given is None else given}
        if named["name"] != name:
            raise BadRequest(
                f"Connector name configuration ({named['name']}) doesn't match connector name in "
                f"the URL ({name})"
            )
        return named

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
        self._require("topic.tracking.enable", "Topic tracking is disabled.")
        return {name: {"topics": self._context.statuses.topics(name)}}

    def reset_topics(self, name: str) -> None:
        """Forget the topics that the connector has used; Forbidden if that is disabled."""
        self._require("topic.tracking.enable", "Topic tracking is disabled.")
        self._require("topic.tracking.allow.reset", "Topic tracking reset is disabled.")
        self._context.statuses.forget_topics(name)

    def _require(self, switch: str, refusal: str) -> None:
        if not self._context.worker[switch]:
            raise Forbidden(refusal)

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
        return [plugin.to_json() for plugin in self._plugins.listed(connectors_only)]

    def plugin_config(self, plugin: str) -> list[dict[str, Any]]:
        """The config keys of a plugin."""
        found = self._plugins.find(plugin)
        if found is None:
            raise NotFound(self._plugins.missing(plugin) or f"Unknown plugin {plugin}.")
        return [key.describe() for key in self._validator.keys_of(found)]

    def validate(self, plugin: str, config: Mapping[str, str | None]) -> dict[str, Any]:
        """Validate a configuration; errors are part of the answer."""
        sent = (config.get("connector.class") or "").strip()
        if sent and not _same_type(sent, plugin):
            raise BadRequest(f"Included connector type {sent} does not match request type {plugin}")
        return self._guarded.validate(config).to_json(sent)


def _same_type(sent: str, asked: str) -> bool:
    """Compared without ``Connector`` at the end, as a suffix, in capitals or not."""
    ours, theirs = (name.lower().removesuffix("connector") for name in (sent, asked))
    return ours.endswith(theirs)
