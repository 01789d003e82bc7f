"""Plugins, found only by entry points: ours in the same way as a third party's.

A plugin answers to its Kafka Connect class name and to its other ``aliases``, to its Python name
(``module.Class``), to each of these without what precedes the class, and to that without
``Connector``. Where no name matches exactly, one that differs only in case does.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar

from penstock import __version__
from penstock.engine.pipeline.stage_error import class_name
from penstock.runtime.errors import BadRequest
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import Connector, SinkConnector, SourceConnector
from penstock.sdk.converters import Converter
from penstock.sdk.missing_extras import missing_extra
from penstock.sdk.predicates import Predicate
from penstock.sdk.transforms import Transform

log = logging.getLogger(__name__)

CONNECTORS = "penstock.connectors"
KINDS: dict[str, type] = {
    CONNECTORS: Connector,
    "penstock.converters": Converter,
    "penstock.transforms": Transform,
    "penstock.predicates": Predicate,
}


@dataclass(frozen=True)
class Plugin:
    """One plugin class and the names it goes by."""

    cls: type[Any]

    @property
    def class_name(self) -> str:
        """The name it is listed under."""
        return class_name(self.cls)

    @property
    def version(self) -> str:
        """Its version, or "unknown"; built-in plugins have Penstock's."""
        ours = self.cls.__module__.startswith("penstock.")
        return str(getattr(self.cls, "version", __version__ if ours else "unknown"))

    @cached_property
    def type(self) -> str:
        """Kafka Connect's word for its kind."""
        for base, word in _TYPES:
            if issubclass(self.cls, base):
                return word
        return "unknown"

    def to_json(self) -> dict[str, str]:
        """As the plugins endpoint lists it."""
        shown = {"class": self.class_name, "type": self.type}
        return shown if self.version == "unknown" else {**shown, "version": self.version}

    @cached_property
    def names(self) -> frozenset[str]:
        """All that it is called."""
        python = f"{self.cls.__module__}.{self.cls.__qualname__}"
        return names_of(self.class_name, *getattr(self.cls, "aliases", ())) | {python}


@dataclass(frozen=True)
class MissingPlugin:
    """A plugin that cannot be loaded, because an extra of its package is not installed.

    It is known by its entry point alone, so a class of Kafka Connect is taken for it if only the
    package in front of the class's name differs.
    """

    point: EntryPoint
    advice: str
    """What to install."""

    @property
    def class_name(self) -> str:
        """The name it is listed under."""
        return self.point.value.partition("[")[0].strip().replace(":", ".")

    @property
    def type(self) -> str:
        """Kafka Connect's word for its kind."""
        if self.point.group != "penstock.connectors":
            return dict(_TYPES)[KINDS[self.point.group]]
        return "sink" if "sink" in self.class_name.rpartition(".")[2].lower() else "source"

    def to_json(self) -> dict[str, str]:
        """As the plugins endpoint lists it."""
        return {"class": self.class_name, "type": self.type}

    def answers_to(self, name: str) -> bool:
        """Whether ``name`` may mean this plugin."""
        known = {each.lower() for each in names_of(self.class_name) | {self.point.name}}
        return name.rpartition(".")[2].lower() in known


def names_of(*class_names: str) -> frozenset[str]:
    """These, each also without its package, and that without ``Connector``."""
    simple = {name.rpartition(".")[2] for name in class_names}
    return frozenset({*class_names, *simple, *(name.removesuffix("Connector") for name in simple)})


class HeaderConverter(Plugin):
    """A converter used for headers."""

    @cached_property
    def type(self) -> str:
        """Kafka Connect's word for its kind."""
        return "header_converter"


class SimpleHeaderConverter:
    """The workers' default. Header values are bytes here, so there is nothing to convert."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
    config_def: ClassVar[ConfigDef] = ConfigDef()


_TYPES: tuple[tuple[type, str], ...] = (
    (SinkConnector, "sink"),
    (SourceConnector, "source"),
    (Transform, "transformation"),
    (Predicate, "predicate"),
    (Converter, "converter"),
)


class Plugins:
    """All installed plugins; read once, at first use."""

    def __init__(self, worker_properties: Mapping[str, str] | None = None) -> None:
        self._worker = dict(worker_properties or {})
        self._missing: dict[str, list[MissingPlugin]] = {}

    def handed(self, plugin: Plugin, config: Mapping[str, str]) -> dict[str, str]:
        """``config`` as a connector or task gets it: its ``worker_keys`` are the worker's."""
        keys: tuple[str, ...] = plugin.cls.worker_keys
        given = {key: self._worker[key] for key in keys if key in self._worker}
        return {**own_keys(plugin, config), **given}

    @cached_property
    def connectors(self) -> list[Plugin]:
        """Sinks first, then sources, as Kafka Connect lists them."""
        self._at_start = {point.value for point in entry_points(group=CONNECTORS)}
        found = self._load(CONNECTORS)
        return sorted(found, key=lambda p: (p.type, p.class_name))

    @cached_property
    def converters(self) -> list[Plugin]:
        """Converters."""
        return self._load("penstock.converters")

    @cached_property
    def header_converters(self) -> list[Plugin]:
        """The valid values of header.converter."""
        # As in Kafka Connect, those that depend on the topic are for keys and values only.
        plain = (plugin.cls for plugin in self.converters if not plugin.cls.per_topic)
        classes: list[type[Any]] = [SimpleHeaderConverter, *plain]
        return sorted(map(HeaderConverter, classes), key=lambda plugin: plugin.class_name)

    @cached_property
    def transforms(self) -> list[Plugin]:
        """Transforms."""
        return self._load("penstock.transforms")

    @cached_property
    def predicates(self) -> list[Plugin]:
        """Predicates."""
        return self._load("penstock.predicates")

    @cached_property
    def _found(self) -> dict[str, Plugin]:
        """Cached by name: every answer about a connector asks."""
        return {}

    def connector(self, name: str) -> Plugin:
        """The connector called ``name``; BadRequest lists the available ones."""
        known = self._found.get(name)
        if known is None:
            known = self._found[name] = self._one_connector(name)
        return known

    def is_sink(self, config: Mapping[str, str]) -> bool:
        """Whether a config is that of a sink; False if the connector is not installed."""
        try:
            return self.connector(config.get("connector.class", "")).type == "sink"
        except BadRequest:
            return False

    def _one_connector(self, name: str) -> Plugin:
        found = _matching(self.connectors, name)
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(p.class_name for p in found)
            raise BadRequest(f"More than one connector matches alias {name}: {names}")
        if (missing := self._missing_one(name, "penstock.connectors")) is not None:
            raise BadRequest(missing.advice)
        known = ", ".join(p.class_name for p in self.connectors)
        raise BadRequest(
            "Failed to find any class that implements Connector and which name matches "
            f"{name}, available connectors are: {known}"
        ).advising(self._next_step(name))

    def _next_step(self, name: str) -> str:
        """After a connector was not found: it may be there all the same."""
        point = next((p for p in entry_points(group=CONNECTORS) if name in _names_of(p)), None)
        if point is None:
            return "`penstock get plugins` lists the connectors."
        if point.value in self._at_start:
            return "It is installed, but could not be loaded: the worker's log says why."
        return "It was installed after this worker started: restart the worker."

    def missing_part(self, name: str) -> str | None:
        """What to install for the converter, transform or predicate called ``name``, if it helps.

        None for one that is installed, and for one that is not known at all.
        """
        return self._advice(name, [group for group in KINDS if group != "penstock.connectors"])

    def missing(self, name: str) -> str | None:
        """As ``missing_part``, for a plugin of any kind."""
        return self._advice(name, list(KINDS))

    def _advice(self, name: str, groups: Iterable[str]) -> str | None:
        self._usable()  # what is missing shows when the others are loaded
        found = (self._missing_one(name, group) for group in groups)
        return next((missing.advice for missing in found if missing is not None), None)

    def _missing_one(self, name: str, group: str) -> MissingPlugin | None:
        return next((p for p in self._missing.get(group, ()) if p.answers_to(name)), None)

    def converter(self, name: str) -> Plugin | None:
        """The converter called ``name``."""
        return _find(self.converters, name)

    def transform(self, name: str) -> Plugin | None:
        """The transform called ``name``."""
        return _find(self.transforms, name)

    def predicate(self, name: str) -> Plugin | None:
        """The predicate called ``name``."""
        return _find(self.predicates, name)

    def find(self, name: str) -> Plugin | None:
        """The plugin called ``name``, of whatever kind."""
        return _find(self._usable(), name)

    def listed(self, connectors_only: bool) -> list[Plugin | MissingPlugin]:
        """In the order of the plugins endpoint; those that lack an extra are last."""
        found = self.connectors if connectors_only else self._usable()
        groups = ["penstock.connectors"] if connectors_only else list(KINDS)
        return [*found, *(each for group in groups for each in self._missing.get(group, ()))]

    def _usable(self) -> list[Plugin]:
        converters = [*self.converters, *self.header_converters]
        return [*self.connectors, *self.transforms, *self.predicates, *converters]

    def _load(self, group: str) -> list[Plugin]:
        """By name, as Kafka Connect lists them; what lacks an extra is noted beside."""
        loaded = [_load_one(point, KINDS[group]) for point in entry_points(group=group)]
        self._missing[group] = [found for found in loaded if isinstance(found, MissingPlugin)]
        # Two entry points may name one class.
        found = dict.fromkeys(plugin for plugin in loaded if isinstance(plugin, Plugin))
        return sorted(found, key=lambda plugin: plugin.class_name)


def own_keys(plugin: Plugin, config: Mapping[str, str]) -> dict[str, str]:
    """``config`` without the keys that only the worker may set."""
    return {key: text for key, text in config.items() if key not in plugin.cls.worker_keys}


def _names_of(point: EntryPoint) -> set[str]:
    """What a connector may be called, as far as that is known without loading it."""
    simple = point.attr.rpartition(".")[2]
    python = f"{point.module}.{point.attr}"
    return {point.name, python, simple, simple.removesuffix("Connector")}


def _find(plugins: Iterable[Plugin], name: str) -> Plugin | None:
    return next(iter(_matching(plugins, name)), None)


def _matching(plugins: Iterable[Plugin], name: str) -> list[Plugin]:
    """Those called exactly so; if there are none, those whose name differs only in case."""
    known = list(plugins)
    exact = [plugin for plugin in known if name in plugin.names]
    return exact or [p for p in known if name.lower() in {each.lower() for each in p.names}]


def _load_one(point: EntryPoint, kind: type) -> Plugin | MissingPlugin | None:
    """A plugin that cannot be loaded is named in the log and left out; the others still work."""
    try:
        cls = point.load()
    except Exception as error:
        advice = missing_extra(point, error)
        if advice is not None:
            return MissingPlugin(point, f"{advice}, then restart the worker.")
        log.exception("plugin %s (%s) cannot be loaded", point.name, point.value)
        return None
    if isinstance(cls, type) and issubclass(cls, kind):
        return Plugin(cls)
    log.error("plugin %s (%s) is not a %s", point.name, point.value, kind.__name__)
    return None
