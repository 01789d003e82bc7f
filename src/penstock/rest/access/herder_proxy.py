"""A herder that passes every call on; what hides secrets or writes an audit overrides some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.rest.herder_api import Config, HerderApi, Json
from penstock.runtime.cluster.peers import Answer


class HerderProxy(HerderApi):
    """The herder itself, as long as nothing is overridden."""

    def __init__(self, herder: HerderApi) -> None:
        self._behind = herder

    @property
    def _herder(self) -> HerderApi:
        return self._behind

    def root(self) -> Json:
        return self._herder.root()

    def health(self) -> tuple[str, str]:
        return self._herder.health()

    def verified(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> str | None:
        return self._herder.verified(method, target, body, headers)

    def forward(self, method: str, target: str, body: bytes, role: str) -> Answer:
        return self._herder.forward(method, target, body, role)

    def do_as_told(self, name: str, verb: str, body: Any) -> None:
        self._herder.do_as_told(name, verb, body)

    def take_tasks(self, name: str, tasks: list[dict[str, str]], worker: str) -> None:
        self._herder.take_tasks(name, tasks, worker)

    def loggers(self) -> Json:
        return self._herder.loggers()

    def logger(self, name: str) -> Json:
        return self._herder.logger(name)

    def set_logger_level(self, name: str, level: str | None) -> list[str]:
        return self._herder.set_logger_level(name, level)

    def metrics_text(self) -> str:
        return self._herder.metrics_text()

    def set_cluster_logger_level(self, name: str, level: str | None) -> None:
        self._herder.set_cluster_logger_level(name, level)

    def connectors(self) -> list[str]:
        return self._herder.connectors()

    def create(self, name: str, config: Config, initial_state: str | None) -> Json:
        return self._herder.create(name, config, initial_state)

    def put_config(self, name: str, config: Config) -> tuple[bool, Json]:
        return self._herder.put_config(name, config)

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Json:
        return self._herder.patch_config(name, patch)

    def info(self, name: str) -> Json:
        return self._herder.info(name)

    def config(self, name: str) -> Json:
        return self._herder.config(name)

    def status(self, name: str) -> Json:
        return self._herder.status(name)

    def metrics(self, name: str) -> Json:
        return self._herder.metrics(name)

    def plan(self, name: str) -> Json:
        return self._herder.plan(name)

    def tasks(self, name: str) -> list[Json]:
        return self._herder.tasks(name)

    def task_status(self, name: str, task: int) -> Json:
        return self._herder.task_status(name, task)

    def topics(self, name: str) -> Json:
        return self._herder.topics(name)

    def reset_topics(self, name: str) -> None:
        self._herder.reset_topics(name)

    def delete(self, name: str) -> None:
        self._herder.delete(name)

    def pause(self, name: str) -> None:
        self._herder.pause(name)

    def resume(self, name: str) -> None:
        self._herder.resume(name)

    def stop(self, name: str) -> None:
        self._herder.stop(name)

    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> Json | None:
        return self._herder.restart(name, include_tasks, only_failed)

    def restart_task(self, name: str, task: int) -> None:
        self._herder.restart_task(name, task)

    def offsets(self, name: str) -> Json:
        return self._herder.offsets(name)

    def alter_offsets(self, name: str, offsets: list[Json]) -> str:
        return self._herder.alter_offsets(name, offsets)

    def reset_offsets(self, name: str) -> str:
        return self._herder.reset_offsets(name)

    def plugins(self, connectors_only: bool) -> list[Json]:
        return self._herder.plugins(connectors_only)

    def plugin_config(self, plugin: str) -> list[Json]:
        return self._herder.plugin_config(plugin)

    def validate(self, plugin: str, config: Config) -> Json:
        return self._herder.validate(plugin, config)
