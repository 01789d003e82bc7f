"""A worker in this process: its herder, with the client's methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from penstock.sql.connecting.connect_api import Json


class Herder(Protocol):
    """The part of the herder that statements use; given masked and audited, as routes have it."""

    def connectors(self) -> list[str]: ...
    def create(self, name: str, config: Json, initial_state: str | None) -> Json: ...
    def put_config(self, name: str, config: Json) -> tuple[bool, Json]: ...
    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Json: ...
    def info(self, name: str) -> Json: ...
    def status(self, name: str) -> Json: ...
    def metrics(self, name: str) -> Json: ...
    def topics(self, name: str) -> Json: ...
    def delete(self, name: str) -> None: ...
    def pause(self, name: str) -> None: ...
    def resume(self, name: str) -> None: ...
    def stop(self, name: str) -> None: ...
    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> Json | None: ...
    def offsets(self, name: str) -> Json: ...
    def alter_offsets(self, name: str, offsets: list[Json]) -> str: ...
    def reset_offsets(self, name: str) -> str: ...
    def plugins(self, connectors_only: bool) -> list[Json]: ...
    def plugin_config(self, plugin: str) -> list[Json]: ...
    def validate(self, plugin: str, config: Json) -> Json: ...


class HerderConnect:
    """``Connect`` over a herder. What has the same form on both sides is passed on as it is."""

    def __init__(self, herder: Herder) -> None:
        self._herder = herder
        self.connectors = herder.connectors
        self.patch_config = herder.patch_config
        self.info = herder.info
        self.status = herder.status
        self.metrics = herder.metrics
        self.delete = herder.delete
        self.pause = herder.pause
        self.resume = herder.resume
        self.stop = herder.stop
        self.reset_offsets = herder.reset_offsets
        self.plugin_config = herder.plugin_config

    def expanded(self, *parts: str) -> dict[str, Json]:
        """As the route answers ``expand``; only the parts that are asked for."""
        asked = {"status": self._herder.status, "info": self._herder.info}
        return {name: {p: asked[p](name) for p in parts} for name in self._herder.connectors()}

    def create(
        self, name: str, config: Mapping[str, Any], initial_state: str | None = None
    ) -> Json:
        """Create a connector; its info."""
        return self._herder.create(name, dict(config), initial_state)

    def put_config(self, name: str, config: Mapping[str, Any]) -> Any:
        """Replace its config."""
        return self._herder.put_config(name, dict(config))

    def topics(self, name: str) -> list[str]:
        """The topics that it has used."""
        return list(self._herder.topics(name)[name]["topics"])

    def restart(
        self, name: str, *, include_tasks: bool = False, only_failed: bool = False
    ) -> Json | None:
        """Restart it."""
        return self._herder.restart(name, include_tasks, only_failed)

    def offsets(self, name: str) -> list[Json]:
        """Its offsets."""
        return list(self._herder.offsets(name)["offsets"])

    def alter_offsets(self, name: str, offsets: Sequence[Mapping[str, Any]]) -> str:
        """Set the given partitions' offsets."""
        return self._herder.alter_offsets(name, [dict(each) for each in offsets])

    def plugins(self) -> list[Json]:
        """Installed connectors."""
        return self._herder.plugins(True)

    def validate(self, plugin: str, config: Mapping[str, Any]) -> Json:
        """Check a config."""
        return self._herder.validate(plugin, dict(config))
