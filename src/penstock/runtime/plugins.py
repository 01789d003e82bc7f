"""Plugins, found by entry points only: ours exactly as a third party's.

A plugin answers to its Kafka Connect class name, to its Python name (``module.Class``), to its
simple class name, and to that name without ``Connector``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar

from penstock import __version__
from penstock.columnar.converter import Converter
from penstock.columnar.predicate import Predicate
from penstock.columnar.transform import Transform
from penstock.engine.stage_error import class_name
from penstock.runtime.errors import BadRequest
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import Connector, SinkConnector, SourceConnector

log = logging.getLogger(__name__)

KINDS: dict[str, type] = {
    "penstock.connectors": Connector,
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
        """Its version, or "unknown"; what comes with Penstock has Penstock's."""
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

    def answers_to(self, name: str) -> bool:
        """Whether ``name`` means this plugin."""
        simple = self.class_name.rpartition(".")[2]
        python = f"{self.cls.__module__}.{self.cls.__qualname__}"
        return name in {self.class_name, python, simple, simple.removesuffix("Connector")}


class HeaderConverter(Plugin):
    """A converter at the place of one for headers."""

    @cached_property
    def type(self) -> str:
        """Kafka Connect's word for its kind."""
        return "header_converter"


class SimpleHeaderConverter:
    """The default of workers. Values of headers are bytes here, so there is nothing to convert."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
    config_def: ClassVar[ConfigDef] = ConfigDef()


_TYPES = (
    (SinkConnector, "sink"),
    (SourceConnector, "source"),
    (Transform, "transformation"),
    (Predicate, "predicate"),
    (Converter, "converter"),
)


class Plugins:
    """Everything that is installed; read once, at first use."""

    def __init__(self, worker_properties: Mapping[str, str] | None = None) -> None:
        self._worker = dict(worker_properties or {})

    def handed(self, plugin: Plugin, config: Mapping[str, str]) -> dict[str, str]:
        """``config`` as a connector or task gets it: its ``worker_keys`` are the worker's alone."""
        keys: tuple[str, ...] = plugin.cls.worker_keys
        given = {key: self._worker[key] for key in keys if key in self._worker}
        return {**own_keys(plugin, config), **given}

    @cached_property
    def connectors(self) -> list[Plugin]:
        """Sinks first, then sources, as Kafka Connect lists them."""
        found = _load("penstock.connectors")
        return sorted(found, key=lambda p: (p.type, p.class_name))

    @cached_property
    def converters(self) -> list[Plugin]:
        """Converters."""
        return _load("penstock.converters")

    @cached_property
    def header_converters(self) -> list[Plugin]:
        """What may stand in a config as header.converter."""
        classes: list[type[Any]] = [
            SimpleHeaderConverter,
            *(plugin.cls for plugin in self.converters),
        ]
        return sorted(map(HeaderConverter, classes), key=lambda plugin: plugin.class_name)

    @cached_property
    def transforms(self) -> list[Plugin]:
        """Transforms."""
        return _load("penstock.transforms")

    @cached_property
    def predicates(self) -> list[Plugin]:
        """Predicates."""
        return _load("penstock.predicates")

    @cached_property
    def _found(self) -> dict[str, Plugin]:
        """By the names that were asked for: every answer about a connector asks."""
        return {}

    def connector(self, name: str) -> Plugin:
        """The connector called ``name``; BadRequest lists those there are."""
        known = self._found.get(name)
        if known is None:
            known = self._found[name] = self._one_connector(name)
        return known

    def is_sink(self, config: Mapping[str, str]) -> bool:
        """Whether a config is that of a sink; of a connector that is not installed it is not."""
        try:
            return self.connector(config.get("connector.class", "")).type == "sink"
        except BadRequest:
            return False

    def _one_connector(self, name: str) -> Plugin:
        found = [p for p in self.connectors if p.answers_to(name)]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(p.class_name for p in found)
            raise BadRequest(f"More than one connector matches alias {name}: {names}")
        known = ", ".join(p.class_name for p in self.connectors)
        raise BadRequest(
            "Failed to find any class that implements Connector and which name matches "
            f"{name}, available connectors are: {known}"
        )

    def converter(self, name: str) -> Plugin | None:
        """The converter called ``name``."""
        return _find(self.converters, name)

    def transform(self, name: str) -> Plugin | None:
        """The transform called ``name``."""
        return _find(self.transforms, name)

    def predicate(self, name: str) -> Plugin | None:
        """The predicate called ``name``."""
        return _find(self.predicates, name)

    def all(self) -> list[Plugin]:
        """Every plugin, in the order of the plugins endpoint."""
        converters = [*self.converters, *self.header_converters]
        return [*self.connectors, *self.transforms, *self.predicates, *converters]


def own_keys(plugin: Plugin, config: Mapping[str, str]) -> dict[str, str]:
    """``config`` without what only the worker may say."""
    return {key: text for key, text in config.items() if key not in plugin.cls.worker_keys}


def _find(plugins: Iterable[Plugin], name: str) -> Plugin | None:
    return next((p for p in plugins if p.answers_to(name)), None)


def _load(group: str) -> list[Plugin]:
    """By name, as Kafka Connect lists them."""
    loaded = (_load_one(point, KINDS[group]) for point in entry_points(group=group))
    # Two entry points may name one class.
    found = dict.fromkeys(plugin for plugin in loaded if plugin is not None)
    return sorted(found, key=lambda plugin: plugin.class_name)


def _load_one(point: EntryPoint, kind: type) -> Plugin | None:
    """A plugin that cannot be loaded is named in the log and left out; the others still work."""
    try:
        cls = point.load()
    except Exception:
        log.exception("plugin %s (%s) cannot be loaded", point.name, point.value)
        return None
    if isinstance(cls, type) and issubclass(cls, kind):
        return Plugin(cls)
    log.error("plugin %s (%s) is no %s", point.name, point.value, kind.__name__)
    return None
