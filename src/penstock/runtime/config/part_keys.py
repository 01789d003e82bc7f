"""The keys of the converters, transforms and predicates that a configuration names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from penstock.runtime.plugins import Plugin, Plugins, SimpleHeaderConverter
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, Width

Config = Mapping[str, str | None]

CONVERTERS = ("key.converter", "value.converter", "header.converter")
TRANSFORMS, PREDICATES = "transforms", "predicates"
WORDS = {TRANSFORMS: "Transformation", PREDICATES: "Predicate"}
VERSION = "connector.plugin.version"
SIMPLE_HEADERS = SimpleHeaderConverter.connect_class
OF_EVERY_TRANSFORM = ConfigDef(
    ConfigKey("predicate", default=None, doc="A predicate that selects the records to transform."),
    ConfigKey("negate", Type.BOOLEAN, default=False, doc="Whether to negate the predicate."),
)
_WEIGHTS = {Importance.HIGH: 0, Importance.MEDIUM: 1, Importance.LOW: 2}


def aliases(config: Config, kind: str) -> list[str]:
    """The transforms or predicates of a configuration, in order."""
    return [a for a in re.split(r"\s*,\s*", (config.get(kind) or "").strip()) if a]


class Parts:
    """The keys that installed plugins define for the parts of configurations."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    def described(self, framework: ConfigDef, connector: Plugin, config: Config) -> ConfigDef:
        """The framework's keys with the available classes and versions as recommended values."""
        keys = [replace(framework[VERSION], **_versions(connector))]
        for key in CONVERTERS:
            known = [plugin.class_name for plugin in self._fitting(key)]
            keys.append(replace(framework[key], recommended=known))
            keys.append(self._converter_version(framework[f"{key}.plugin.version"], key, config))
        return framework + ConfigDef(*keys)

    def _fitting(self, key: str) -> list[Plugin]:
        header = key == CONVERTERS[2]
        return self._plugins.header_converters if header else self._plugins.converters

    def _converter_version(self, version: ConfigKey, key: str, config: Config) -> ConfigKey:
        name = (config.get(key) or "").strip()
        plugin = self._plugins.converter(name)
        if plugin is not None:
            return replace(version, **_versions(plugin))
        known = not name or is_simple(key, name)
        return version if known else replace(version, visible=lambda _: False)

    def class_name(self, key: ConfigKey, name: str) -> str | None:
        """The full name of a class; None if it is not installed."""
        found = (self._plugins.converter, self._plugins.transform, self._plugins.predicate)
        plugin = next((p for find in found if (p := find(name)) is not None), None)
        if plugin is not None:
            return plugin.class_name
        return SIMPLE_HEADERS if is_simple(key.name, name) else None

    def converter_keys(self, config: Config) -> ConfigDef:
        """The keys of the converters that are named, under their prefixes."""
        found = ConfigDef()
        for key in CONVERTERS:
            plugin = self._plugins.converter((config.get(key) or "").strip())
            if plugin is not None:
                own: ConfigDef = plugin.cls.config_def
                found += ConfigDef(*(replace(k, name=f"{key}.{k.name}") for k in own))
        return found

    def alias_keys(self, config: Config) -> ConfigDef:
        """The keys of the transforms and predicates that are named."""
        found = ConfigDef()
        for alias in dict.fromkeys(aliases(config, TRANSFORMS)):
            found += self._part_keys(TRANSFORMS, alias, config)
        for alias in dict.fromkeys(aliases(config, PREDICATES)):
            found += self._part_keys(PREDICATES, alias, config)
        return found

    def _part_keys(self, kind: str, alias: str, config: Config) -> ConfigDef:
        prefix = f"{kind}.{alias}."
        known = [plugin.class_name for plugin in self._known(kind)]
        type_key, version = _type_keys(kind, alias, known)
        plugin = self._find(kind, (config.get(f"{prefix}type") or "").strip())
        if plugin is None:
            return ConfigDef(type_key, version)
        more = OF_EVERY_TRANSFORM if kind == TRANSFORMS else ConfigDef()
        own = _embedded(more + plugin.cls.config_def, type_key)
        return ConfigDef(type_key, replace(version, **_versions(plugin)), *own)

    def _known(self, kind: str) -> list[Plugin]:
        return self._plugins.transforms if kind == TRANSFORMS else self._plugins.predicates

    def _find(self, kind: str, name: str) -> Plugin | None:
        find = self._plugins.transform if kind == TRANSFORMS else self._plugins.predicate
        return find(name)

    def unknown(self, config: Mapping[str, str]) -> list[tuple[str, str]]:
        """(key, message) for every class that is not installed, and every missing predicate."""
        errors = [e for alias in aliases(config, TRANSFORMS) for e in _predicate(alias, config)]
        for key in CONVERTERS:
            name = config.get(key, "").strip()
            if name and (error := wrong_converter(self._plugins, key, name)):
                errors.append((key, error))
        for kind in (TRANSFORMS, PREDICATES):
            errors += [
                error for a in aliases(config, kind) for error in self._type(kind, a, config)
            ]
        return errors

    def _type(self, kind: str, alias: str, config: Mapping[str, str]) -> list[tuple[str, str]]:
        key = f"{kind}.{alias}.type"
        name = config.get(key, "").strip()
        if not name or self._find(kind, name) is not None:
            return []  # a missing one is reported by the key itself
        return [(key, no_class(self._plugins, key, name))]


def _predicate(alias: str, config: Mapping[str, str]) -> list[tuple[str, str]]:
    prefix = f"{TRANSFORMS}.{alias}."
    negate, key = f"{prefix}negate", f"{prefix}predicate"
    named = config.get(key, "").strip()
    if named and named not in aliases(config, PREDICATES):
        return [(key, f"Invalid value {named} for configuration {key}: no such predicate")]
    if negate in config and not named:
        text = f"Config '{negate}' was provided but there is no config '{key}' defining a "
        # Kafka Connect finds this while it checks the transform's class.
        return [(f"{prefix}type", f"{text}predicate to be negated.")]
    return []


def is_simple(key: str, name: str) -> bool:
    """Whether ``name`` is Kafka Connect's SimpleHeaderConverter, as a header converter."""
    simple = SIMPLE_HEADERS.rpartition(".")[2]
    return key == CONVERTERS[2] and name in {SIMPLE_HEADERS, simple}


def _versions(plugin: Plugin) -> dict[str, Any]:
    """A plugin is installed in one version, or has none."""
    if plugin.version == "unknown":
        return {}
    return {"default": plugin.version, "recommended": [plugin.version]}


def _type_keys(kind: str, alias: str, known: Iterable[str]) -> tuple[ConfigKey, ConfigKey]:
    prefix, group, word = f"{kind}.{alias}.", f"{kind.title()}: {alias}", WORDS[kind]
    return (
        ConfigKey(
            f"{prefix}type",
            Type.CLASS,
            importance=Importance.HIGH,
            doc=f"Class of the {word.lower()} '{alias}'.",
            group=group,
            order=0,
            width=Width.LONG,
            display_name=f"{word} type for {alias}",
            recommended=list(known),
        ),
        ConfigKey(
            f"{prefix}plugin.version",
            default=None,
            importance=Importance.HIGH,
            doc=f"Version of the {word.lower()} '{alias}'.",
            group=group,
            order=1,
            width=Width.LONG,
            display_name=f"{word} version for {alias}",
        ),
    )


def _embedded(own: ConfigDef, type_key: ConfigKey) -> Iterable[ConfigKey]:
    """After type and version, in the order in which Kafka lists the keys of a part."""
    prefix = type_key.name.removesuffix("type")
    for order, key in enumerate(sorted(own, key=_rank), 2):
        display = key.display_name or key.name
        name = prefix + key.name
        yield replace(key, name=name, group=type_key.group, order=order, display_name=display)


def _rank(key: ConfigKey) -> tuple[Any, ...]:
    """Required ones first."""
    return (not key.required, _WEIGHTS[key.importance], key.name)


def wrong_converter(plugins: Plugins, key: str, name: str) -> str | None:
    """Why this cannot be the converter of ``key``; None if it can."""
    if is_simple(key, name):
        return None
    plugin = plugins.converter(name)
    if plugin is None:
        return no_class(plugins, key, name)
    if key == CONVERTERS[2] and plugin.cls.per_topic:
        return (
            f"Invalid value {name} for configuration {key}: Class {plugin.class_name} converts by "
            "topic, so it is for keys and values only."
        )
    return None


def no_class(plugins: Plugins, key: str, name: str) -> str:
    """The error for a class that cannot be used, with what to install where that helps."""
    why = plugins.missing_part(name) or f"Class {name} could not be found."
    return f"Invalid value {name} for configuration {key}: {why}"
