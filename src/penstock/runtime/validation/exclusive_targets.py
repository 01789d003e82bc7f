"""Targets that only one connector may write to: a second one with the same target is rejected.

Connectors name such targets themselves (``Connector.exclusive_targets``). The leader compares them
with those of all stored connectors before it stores a configuration, so it holds for the whole
cluster. A worker that starts a connector compares again, for configurations that were stored
before, or whose references now resolve to something else.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from penstock.runtime.callbacks import STOP_SECONDS, CallbackHangs, aside
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.errors import BadRequest
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.stores.config_store import ConfigStore
from penstock.sdk.connectors import Connector
from penstock.sdk.errors import ConfigError, PenstockError

log = logging.getLogger(__name__)

TAKEN = (
    "'{key}' is the target of connector {other}, and only one connector may write there. Set "
    "another '{key}', or delete connector {other}."
)
KEPT_SECONDS = 10.0
"""How long the targets of another connector are cached; links may change."""

Targets = Mapping[str, str]


class ExclusiveTargets:
    """The targets of stored connectors, and of those that are about to be stored. Thread-safe."""

    def __init__(self, configs: ConfigStore, plugins: Plugins, rules: Rules) -> None:
        self._configs = configs
        self._plugins = plugins
        self._rules = rules
        self._lock = threading.Lock()
        self._claims: list[tuple[str, Targets]] = []
        self._known: dict[str, tuple[Mapping[str, str], float, Targets]] = {}
        self._hanging: set[type[Connector]] = set()

    @contextmanager
    def claimed(self, name: str, config: Mapping[str, str]) -> Iterator[None]:
        """While a config is being stored, no other with the same target can be.

        BadRequest if another connector has one of its targets.
        """
        try:
            claim = name, self._resolved(config)
        except PenstockError as error:
            raise BadRequest(str(error)) from error
        with self._lock:
            others = [*self._stored(claim[1]), *self._claims]
            if (taken := _taken(name, claim[1], others)) is not None:
                raise BadRequest(taken)
            self._claims.append(claim)
        try:
            yield
        finally:
            with self._lock:
                self._claims.remove(claim)

    def refuse_taken(self, name: str, config: Mapping[str, str]) -> None:
        """ConfigError if a connector may not start, its references resolved.

        Of two stored ones with the same target, the first by name may: otherwise neither could
        start.
        """
        targets = self._asked(config)
        earlier = [entry for entry in self._stored(targets) if entry[0] < name]
        if (taken := _taken(name, targets, earlier)) is not None:
            raise ConfigError(taken)

    def _stored(self, wanted: Targets) -> list[tuple[str, Targets]]:
        if not wanted:
            return []
        names = self._configs.names()
        # A copy: connectors may start on other threads just now.
        known = list(self._known.items())
        self._known = {name: each for name, each in known if name in names}
        return [(name, self._of(name)) for name in names]

    def _of(self, name: str) -> Targets:
        """The targets of a stored connector; none if it cannot run."""
        config = self._configs.config(name) or {}
        known = self._known.get(name)
        if known is not None and known[0] == config and time.monotonic() < known[1]:
            return known[2]
        try:
            targets = self._resolved(config)
        except (PenstockError, BadRequest):
            targets = {}
        self._known[name] = config, time.monotonic() + KEPT_SECONDS, targets
        return targets

    def _resolved(self, config: Mapping[str, str]) -> Targets:
        if not self._names_any(config):
            return {}
        return self._asked(self._rules.providers.resolve(config).config)

    def _names_any(self, config: Mapping[str, str]) -> bool:
        cls = self._plugin(config).cls
        return cls.exclusive_targets is not Connector.exclusive_targets and cls not in self._hanging

    def _plugin(self, config: Mapping[str, str]) -> Plugin:
        return self._plugins.connector(config.get("connector.class", "").strip())

    def _asked(self, config: Mapping[str, str]) -> Targets:
        """What the connector returns; nothing if it raises or hangs."""
        if not self._names_any(config):
            return {}
        plugin = self._plugin(config)
        ask, handed = plugin.cls().exclusive_targets, self._plugins.handed(plugin, config)
        what = f"asking {plugin.class_name} for its targets"
        try:
            return dict(aside(what, ask, handed, seconds=STOP_SECONDS))
        except CallbackHangs as error:
            self._hanging.add(plugin.cls)
            log.warning("%s; not asking it again", error)
        except PenstockError:
            raise
        except Exception:
            log.exception("%s failed", what)
        return {}


def _taken(name: str, targets: Targets, others: list[tuple[str, Targets]]) -> str | None:
    for other, theirs in others:
        for key, target in targets.items():
            if other != name and target in theirs.values():
                return TAKEN.format(key=key, other=other)
    return None
