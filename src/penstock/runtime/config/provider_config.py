"""The worker's ``config.providers``, and what they may read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from penstock.columnar.java_regex import compiled
from penstock.config.providers import (
    AllowedPaths,
    DirectoryProvider,
    EnvVarProvider,
    FileProvider,
    PluggedProvider,
    Provider,
)
from penstock.config.references import DEFINING, Providers
from penstock.sdk.config import invalid_value
from penstock.sdk.errors import ConfigError
from penstock.sdk.missing_extras import missing_extra

PACKAGE = "org.apache.kafka.common.config.provider."
GROUP = "penstock.config_providers"
"""The entry points of those that other packages bring."""
Params = Mapping[str, str]


def providers_of(properties: Mapping[str, str]) -> Providers:
    """The providers that a worker's config defines; ConfigError says what is missing."""
    names = [name for name in re.split(r"\s*,\s*", properties.get(DEFINING, "").strip()) if name]
    return Providers({name: _provider(name, properties) for name in names})


def _provider(name: str, properties: Mapping[str, str]) -> Provider:
    key = f"{DEFINING}.{name}.class"
    given = properties.get(key, "").strip()
    if not given:
        message = f'Missing required configuration "{key}" which has no default value.'
        raise ConfigError(message, key=key)
    make = KINDS.get(given.removeprefix(PACKAGE))
    prefix = f"{DEFINING}.{name}.param."
    return make(prefix, properties) if make else _plugged(name, given, prefix, properties)


def _plugged(name: str, given: str, prefix: str, properties: Params) -> Provider:
    """One of another package; ConfigError if it is not installed, or cannot be loaded."""
    key = f"{DEFINING}.{name}.class"
    found = {each: point for point in entry_points(group=GROUP) for each in _names(point)}
    if given not in found:
        known = ", ".join([*KINDS, *sorted({point.name for point in found.values()})])
        raise invalid_value(key, given, f"Class {given} could not be found. There are: {known}")
    try:
        made = found[given].load()()
    except Exception as error:
        why = missing_extra(found[given], error) or f"it cannot be loaded ({error})"
        raise invalid_value(key, given, f"Class {given}: {why}") from error
    params = {k.removeprefix(prefix): v for k, v in properties.items() if k.startswith(prefix)}
    made.configure(params)
    return PluggedProvider(name, made)


def _names(point: EntryPoint) -> list[str]:
    """What it may be called."""
    return [point.name, point.attr, f"{point.module}.{point.attr}"]


def _file(prefix: str, properties: Params) -> Provider:
    return FileProvider(_allowed_paths(prefix, properties))


def _directory(prefix: str, properties: Params) -> Provider:
    return DirectoryProvider(_allowed_paths(prefix, properties))


def _environment(prefix: str, properties: Params) -> Provider:
    key = prefix + "allowlist.pattern"
    pattern = properties.get(key, "").strip()
    if not pattern:
        raise ConfigError(
            f"{key} is not set: set it to a regular expression of the environment variables that "
            "connectors may refer to, such as CONNECT_.*",
            key=key,
        )
    try:
        return EnvVarProvider(compiled(pattern).pattern)
    except re.error as error:
        raise invalid_value(key, pattern, f"Invalid regex: {error}") from None


def _allowed_paths(prefix: str, properties: Params) -> AllowedPaths:
    key = prefix + "allowed.paths"
    roots = [root.strip() for root in properties.get(key, "").split(",") if root.strip()]
    if not roots:
        raise ConfigError(
            f"{key} is not set: name the folders that connectors may refer to, separated by "
            "commas. Without it they could read every file that the worker can.",
            key=key,
        )
    for root in roots:
        _check_root(key, root)
    return AllowedPaths(tuple(roots))


def _check_root(key: str, root: str) -> None:
    if not Path(root).is_absolute():
        raise ConfigError(f"{key}: Path {root} is not absolute", key=key)
    if not Path(root).exists():
        raise ConfigError(f"{key}: Path {root} does not exist", key=key)


KINDS: Mapping[str, Callable[[str, Params], Provider]] = {
    "FileConfigProvider": _file,
    "DirectoryConfigProvider": _directory,
    "EnvVarConfigProvider": _environment,
}
