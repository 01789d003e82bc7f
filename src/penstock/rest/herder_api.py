"""What this room needs of the herder, so that tests can put a fake in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from penstock.runtime.cluster.peers import Answer

Json = dict[str, Any]
Config = dict[str, Any]
"""Text by key, or None where a client sent null; the herder's validation tells those."""


class OwnApi(Protocol):
    """What a worker answers from the beginning, before it has read its topics."""

    def root(self) -> Json:
        """Version, commit and cluster id."""

    def health(self) -> tuple[str, str]:
        """("healthy" | "starting" | "unhealthy", a sentence). Answers at once, always."""

    def loggers(self) -> Json:
        """Level and time of change of each logger, by name. Answers at once, always."""

    def logger(self, name: str) -> Json:
        """Level and time of change of one logger."""

    def set_logger_level(self, name: str, level: str | None) -> list[str]:
        """Change the level of a logger and of those below it; the names of those that changed."""


class HerderApi(OwnApi, Protocol):
    """Every action on the cluster.

    Methods are thread-safe, may block for seconds, and answer with what JSON can hold. Each may
    raise RequestError, whose status and text become the response; anything else is a defect and
    becomes a 500.
    """

    def verified(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> str | None:
        """The role under which a worker of this cluster asks; None if none of them does."""

    def forward(self, method: str, target: str, body: bytes, role: str) -> Answer:
        """Let the leader answer what was answered here with NotLeading."""

    def do_as_told(self, name: str, verb: str, body: Any) -> None:
        """What the leader wants done with a connector of this worker."""

    def take_tasks(self, name: str, tasks: list[dict[str, str]], worker: str) -> None:
        """Store the tasks of a connector that another worker runs."""

    def metrics_text(self) -> str:
        """What this worker's connectors do, in Prometheus' text format."""

    def set_cluster_logger_level(self, name: str, level: str | None) -> None:
        """The same on every worker of the cluster."""

    def connectors(self) -> list[str]:
        """All names."""

    def create(self, name: str, config: Config, initial_state: str | None) -> Json:
        """Validate and store a new connector; its info."""

    def put_config(self, name: str, config: Config) -> tuple[bool, Json]:
        """Store a whole config; whether the connector is new, and its info."""

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Json:
        """Change some keys, None deletes one; the connector's info."""

    def info(self, name: str) -> Json:
        """Name, config, tasks and type."""

    def config(self, name: str) -> Json:
        """The config as it was sent."""

    def status(self, name: str) -> Json:
        """States of the connector and its tasks."""

    def metrics(self, name: str) -> Json:
        """Its rates, times, errors, restarts, and how far it is; not in Kafka Connect's API."""

    def plan(self, name: str) -> Json:
        """Spark's plan, if it is a query of Spark's; not in Kafka Connect's API."""

    def tasks(self, name: str) -> list[Json]:
        """Ids and configs of its tasks."""

    def task_status(self, name: str, task: int) -> Json:
        """The state of one task."""

    def topics(self, name: str) -> Json:
        """The topics it has used."""

    def reset_topics(self, name: str) -> None:
        """Forget the topics it has used."""

    def delete(self, name: str) -> None:
        """Remove it; its offsets stay."""

    def pause(self, name: str) -> None:
        """Ask for PAUSED."""

    def resume(self, name: str) -> None:
        """Ask for RUNNING."""

    def stop(self, name: str) -> None:
        """Ask for STOPPED."""

    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> Json | None:
        """Restart it; its status, or None when neither flag is set."""

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task."""

    def offsets(self, name: str) -> Json:
        """All its offsets."""

    def alter_offsets(self, name: str, offsets: list[Json]) -> str:
        """Change the given partitions; what to tell the user."""

    def reset_offsets(self, name: str) -> str:
        """Forget all its offsets; what to tell the user."""

    def plugins(self, connectors_only: bool) -> list[Json]:
        """The installed plugins."""

    def plugin_config(self, plugin: str) -> list[Json]:
        """The config keys of a plugin."""

    def validate(self, plugin: str, config: Config) -> Json:
        """What is right and wrong with a config."""
