"""The converters and transforms of a connector's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.engine.pipeline.recipe import Condition, Recipe
from penstock.runtime.config.part_keys import (
    CONVERTERS,
    OF_EVERY_TRANSFORM,
    TRANSFORMS,
    aliases,
    no_class,
    wrong_converter,
)
from penstock.runtime.plugins import Plugin, Plugins
from penstock.sdk.errors import ConfigError

Config = Mapping[str, str]
HEADERS = CONVERTERS[2]
AS_THEY_ARE = (
    "org.apache.kafka.connect.storage.StringConverter",
    "org.apache.kafka.connect.converters.ByteArrayConverter",
)
"""Header converters that leave what is in a batch as it is; so does SimpleHeaderConverter."""


def pipeline_recipe(plugins: Plugins, config: Config, raw: Config, worker: Config) -> Recipe:
    """The recipe of a connector's pipeline.

    ``config`` names the classes. Their settings are those of ``raw``, whose references are not
    resolved; ``worker`` has the converters that the connector does not name itself. ConfigError if
    a class is missing.
    """
    return Recipe(
        key=_converter(plugins, "key.converter", config, raw, worker),
        value=_converter(plugins, "value.converter", config, raw, worker),
        transforms=[
            _transform(plugins, alias, config, raw) for alias in aliases(config, TRANSFORMS)
        ],
        headers=_header_converter(plugins, config, raw, worker),
    )


def default_converters(plugin: Plugin, worker: Config) -> Config:
    """The worker's converters, but the connector's own where it has some."""
    own: Config = plugin.cls.converters
    prefixes = tuple(f"{key}." for key in own)
    return {**{k: v for k, v in worker.items() if not k.startswith(prefixes)}, **own}


def _header_converter(
    plugins: Plugins, config: Config, raw: Config, worker: Config
) -> tuple[type[Any], Config] | None:
    """None for one that writes the text of a value, or its bytes, as they are in a batch."""
    name = (config.get(HEADERS) or worker.get(HEADERS, "")).strip()
    if name and (error := wrong_converter(plugins, HEADERS, name)):
        raise ConfigError(error, key=HEADERS)
    found = plugins.converter(name) if name else None
    if found is None or found.class_name in AS_THEY_ARE:
        return None
    return _converter(plugins, HEADERS, config, raw, worker)


def _converter(
    plugins: Plugins, key: str, config: Config, raw: Config, worker: Config
) -> tuple[type[Any], Config]:
    # A connector that names its own converter inherits none of the worker's settings for its own.
    named, settings = (config, raw) if config.get(key) else (worker, worker)
    name = named.get(key, "").strip()
    return _class(plugins, plugins.converter(name), key, name), _sub_keys(settings, key + ".")


def _transform(
    plugins: Plugins, alias: str, config: Config, raw: Config
) -> tuple[type[Any], Config, Condition | None]:
    prefix = f"transforms.{alias}."
    name = config.get(prefix + "type", "").strip()
    found = _class(plugins, plugins.transform(name), prefix + "type", name)
    return found, _sub_keys(raw, prefix), _condition(plugins, prefix, config, raw)


def _condition(plugins: Plugins, transform: str, config: Config, raw: Config) -> Condition | None:
    own = OF_EVERY_TRANSFORM.parse(_sub_keys(config, transform))
    if not own["predicate"]:
        return None
    prefix = f"predicates.{own['predicate']}."
    name = config.get(prefix + "type", "").strip()
    found = _class(plugins, plugins.predicate(name), prefix + "type", name)
    return Condition(found, _sub_keys(raw, prefix), own["negate"])


def _class(plugins: Plugins, plugin: Plugin | None, key: str, name: str) -> type[Any]:
    if plugin is None:
        raise ConfigError(no_class(plugins, key, name), key=key)
    return plugin.cls


def _sub_keys(config: Config, prefix: str) -> dict[str, str]:
    return {k.removeprefix(prefix): v for k, v in config.items() if k.startswith(prefix)}
