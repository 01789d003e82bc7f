"""A herder that writes an audit line for every change asked of it, done or not."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.rest.access.audit import few, telling
from penstock.rest.access.herder_proxy import HerderProxy
from penstock.rest.herder_api import Config, Json
from penstock.runtime.errors import RequestError


class AuditedHerder(HerderProxy):
    """``herder`` with its changes in the audit; what is not overridden here changes nothing."""

    def delete(self, name: str) -> None:
        with telling("delete", name):
            self._herder.delete(name)

    def pause(self, name: str) -> None:
        with telling("pause", name):
            self._herder.pause(name)

    def resume(self, name: str) -> None:
        with telling("resume", name):
            self._herder.resume(name)

    def stop(self, name: str) -> None:
        with telling("stop", name):
            self._herder.stop(name)

    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> Json | None:
        with telling("restart", name, arguments=(include_tasks, only_failed)):
            return self._herder.restart(name, include_tasks, only_failed)

    def restart_task(self, name: str, task: int) -> None:
        with telling("restart task", name, arguments=(task,)):
            self._herder.restart_task(name, task)

    def reset_topics(self, name: str) -> None:
        with telling("reset topics", name):
            self._herder.reset_topics(name)

    def create(self, name: str, config: Config, initial_state: str | None = None) -> Json:
        with telling("create", name, keys=sorted(config), initial_state=initial_state):
            return self._herder.create(name, config, initial_state)

    def put_config(self, name: str, config: Config) -> tuple[bool, Json]:
        with telling("put config", name, keys=changed(self._config(name), config)):
            return self._herder.put_config(name, config)

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Json:
        before = self._config(name)
        keys = sorted(key for key, value in patch.items() if before.get(key) != value)
        with telling("patch config", name, keys=keys):
            return self._herder.patch_config(name, patch)

    def alter_offsets(self, name: str, offsets: list[Json]) -> str:
        named = {_identity(entry) for entry in offsets}
        old = [entry for entry in self._offsets(name) if _identity(entry) in named]
        with telling("alter offsets", name, old=few(old), new=few(offsets)):
            return self._herder.alter_offsets(name, offsets)

    def reset_offsets(self, name: str) -> str:
        with telling("reset offsets", name, old=few(self._offsets(name)), new=[]):
            return self._herder.reset_offsets(name)

    def set_logger_level(self, name: str, level: str | None) -> list[str]:
        with telling("set logger level", None, logger=name, level=level):
            return self._herder.set_logger_level(name, level)

    def set_cluster_logger_level(self, name: str, level: str | None) -> None:
        with telling("set logger level of the cluster", None, logger=name, level=level):
            self._herder.set_cluster_logger_level(name, level)

    def _config(self, name: str) -> Config:
        try:
            return self._herder.config(name)
        except RequestError:
            return {}

    def _offsets(self, name: str) -> list[Json]:
        try:
            found: list[Json] = self._herder.offsets(name)["offsets"]
        except RequestError:
            return []
        return found


def changed(before: Config, after: Config) -> list[str]:
    """The keys that a new config changes, for a line."""
    keys = before.keys() | after.keys()
    return sorted(key for key in keys if before.get(key) != after.get(key))


def _identity(entry: Json) -> frozenset[tuple[str, str]]:
    """The same for a partition's number and for the text of it, which requests may hold."""
    return frozenset((key, str(value)) for key, value in (entry.get("partition") or {}).items())
