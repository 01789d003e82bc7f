"""The content of the stores, in the shapes of Kafka Connect's REST API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.runtime.errors import NotFound, RequestError
from penstock.runtime.plugins import Plugins
from penstock.runtime.running.context import Context
from penstock.runtime.states import State, Status
from penstock.runtime.views.spark_view import spark_of

STARTING_SPARK = "Starting Spark: the first records take some seconds."


class Views:
    """Read-only answers, all from memory. Thread-safe."""

    def __init__(self, context: Context, plugins: Plugins) -> None:
        self._context = context
        self._plugins = plugins

    def spark(self) -> dict[str, str]:
        """The application of Spark's that this worker has, if it has started one."""
        return spark_of(self._context)

    def config(self, name: str) -> dict[str, str]:
        """The configuration as it was sent; NotFound if there is no such connector."""
        config = self._context.configs.config(name)
        if config is None:
            raise NotFound(f"Connector {name} not found")
        return config

    def info(self, name: str) -> dict[str, Any]:
        """Kafka Connect's ConnectorInfo."""
        config = self.config(name)
        count = len(self._context.configs.tasks(name))
        return {
            "name": name,
            "config": config,
            "tasks": [{"connector": name, "task": task} for task in range(count)],
            "type": self.type_of(config),
        }

    def type_of(self, config: dict[str, str]) -> str:
        """source, sink, or unknown when the plugin is not installed."""
        try:
            return self._plugins.connector(config.get("connector.class", "")).type
        except RequestError:
            return "unknown"

    def tasks(self, name: str) -> list[dict[str, Any]]:
        """The tasks with their configurations."""
        self.config(name)
        return [
            {"id": {"connector": name, "task": i}, "config": task}
            for i, task in enumerate(self._context.configs.tasks(name))
        ]

    def status(self, name: str) -> dict[str, Any]:
        """Kafka Connect's ConnectorStateInfo."""
        statuses = self._context.statuses
        connector = statuses.connector(name)
        if connector is None:
            raise NotFound(f"No status found for connector {name}")
        version = self._version(name)
        return {
            "name": name,
            "connector": _state(self._remarked(connector), version),
            "tasks": [
                {"id": task, **_state(status, version)}
                for task in statuses.task_ids(name)
                if (status := statuses.task(name, task)) is not None
            ],
            "type": self.type_of(self._context.configs.config(name) or {}),
        }

    def _remarked(self, status: Status) -> Status:
        """With what this worker waits for, if nothing else is said of the connector."""
        ours = status.worker_id == self._context.worker_id and status.state is State.RUNNING
        if ours and not status.trace and self._context.engine.session.starting:
            return replace(status, trace=STARTING_SPARK)
        return status

    def _version(self, name: str) -> str | None:
        """The version of the installed plugin; a stopped connector's status does not have it."""
        config = self._context.configs.config(name) or {}
        try:
            return self._plugins.connector(config.get("connector.class", "")).version
        except RequestError:
            return None

    def task_status(self, name: str, task: int) -> dict[str, Any]:
        """The state of one task."""
        status = self._context.statuses.task(name, task)
        if status is None:
            raise NotFound(f"No status found for task {name}-{task}")
        return {"id": task, **_state(status, self._version(name))}


def _state(status: Status, installed: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"state": status.state.value, "worker_id": status.worker_id}
    if status.trace:
        shown["trace"] = status.trace
    version = status.version or installed
    if version and version != "unknown":
        shown["version"] = version
    return shown
