"""What the spec of a KafkaConnector asks for, and whether a worker has it already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from penstock.sdk.config import HIDDEN

Json = dict[str, Any]
IGNORED = ("name", "connector.class", "tasks.max", "connector.plugin.version")


def desired_config(name: str, spec: Mapping[str, Any]) -> dict[str, str]:
    """The config to send. Values are texts, as Kafka Connect keeps them."""
    given = {key: text(value) for key, value in (spec.get("config") or {}).items()}
    config = {key: value for key, value in given.items() if key not in IGNORED}
    config |= {"name": name, "connector.class": str(spec.get("class", ""))}
    if spec.get("tasksMax") is not None:
        config["tasks.max"] = str(spec["tasksMax"])
    if spec.get("version"):
        config["connector.plugin.version"] = str(spec["version"])
    return config


def text(value: Any) -> str:
    """A value of the config map as Kafka Connect reads it from JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)


def ignored_keys(spec: Mapping[str, Any]) -> list[str]:
    """The keys of the config map that the spec has fields for."""
    return [key for key in IGNORED if key in (spec.get("config") or {})]


def unusable_keys(spec: Mapping[str, Any]) -> list[str]:
    """The keys of the config map whose values are not scalars, which workers reject."""
    config = spec.get("config") or {}
    return sorted(key for key, value in config.items() if isinstance(value, (dict, list)))


def digest(config: Mapping[str, str]) -> str:
    """A hash of a whole config, to tell later whether it was this that was applied."""
    return hashlib.sha256(json.dumps(dict(config), sort_keys=True).encode()).hexdigest()[:32]


def same_config(desired: Mapping[str, str], found: Mapping[str, Any], applied: str) -> bool:
    """Whether a worker's config is the desired one; ``applied`` is the hash of what we sent last.

    A worker that hides passwords answers ``[hidden]``: such a value counts as unchanged if the
    desired config is the one that was sent. No default is filled in on either side.
    """
    if desired.keys() != found.keys():
        return False
    hidden = [key for key, value in found.items() if value == HIDDEN and desired[key] != HIDDEN]
    if hidden and applied != digest(desired):
        return False
    return all(desired[key] == value for key, value in found.items() if key not in hidden)
