"""A herder that keeps configs in memory and does as it is told otherwise."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock, create_autospec

from penstock.rest.herder_api import HerderApi
from penstock.runtime.errors import Conflict, NotFound

Config = dict[str, Any]


def config_herder(**configs: Config) -> Mock:
    """A herder with these connectors; ``herder.stored`` is what it keeps."""
    herder: Mock = create_autospec(HerderApi, instance=True)
    herder.health.return_value = ("healthy", "All is well")
    stored = herder.stored = {name: dict(config) for name, config in configs.items()}

    def config(name: str) -> Config:
        if name not in stored:
            raise NotFound(f"Connector {name} not found")
        return dict(stored[name])

    def info(name: str) -> dict[str, Any]:
        return {"name": name, "config": config(name), "tasks": [], "type": "source"}

    def put(name: str, new: Config) -> tuple[bool, dict[str, Any]]:
        created = name not in stored
        stored[name] = dict(new)
        return created, info(name)

    def create(name: str, new: Config, _: str | None) -> dict[str, Any]:
        if name in stored:
            raise Conflict(f"Connector {name} already exists")
        return put(name, new)[1]

    def patch(name: str, changes: Config) -> dict[str, Any]:
        merged = {**config(name), **changes}
        return put(name, {k: v for k, v in merged.items() if v is not None})[1]

    herder.connectors.side_effect = lambda: list(stored)
    herder.config.side_effect = config
    herder.info.side_effect = info
    herder.put_config.side_effect = put
    herder.create.side_effect = create
    herder.patch_config.side_effect = patch
    return herder
