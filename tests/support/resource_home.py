"""A resource in memory: what a round writes to it can be looked at."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


class MemoryHome:
    """Keeps the resource as an API server would."""

    def __init__(self, resource: Json) -> None:
        self.resource = resource
        self.told: list[tuple[str, str, str]] = []
        self.maps: dict[str, dict[str, str]] = {}
        self.statuses: list[Json] = []

    def write_status(self, status: Mapping[str, Any]) -> None:
        if status != self.resource.get("status"):
            self.resource["status"] = copy.deepcopy(dict(status))
            self.statuses.append(self.resource["status"])

    def drop_annotation(self, key: str) -> None:
        del self.resource["metadata"]["annotations"][key]

    def tell(self, kind: str, reason: str, message: str) -> None:
        self.told.append((kind, reason, message))

    def config_map(self, name: str) -> dict[str, str] | None:
        return self.maps.get(name)

    def write_config_map(self, name: str, key: str, text: str) -> None:
        self.maps.setdefault(name, {})[key] = text

    @property
    def annotations(self) -> dict[str, str]:
        return self.resource["metadata"].get("annotations") or {}

    def condition(self, kind: str) -> Json:
        """The condition of a type, empty if there is none."""
        conditions = self.resource["status"]["conditions"]
        return next((c for c in conditions if c["type"] == kind), {})
