"""What a worker answers about itself, its loggers and its plugins, without a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.runtime import versions
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.errors import BadRequest, NotFound
from penstock.runtime.loggers import Loggers
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.guarded_validation import GuardedValidator
from penstock.runtime.validation.own_checks import OwnChecks
from penstock.runtime.validation.validation import Validator

STARTING = "The worker is starting: it has not read its topics yet."


class OwnAnswers:
    """All that is answered while the worker starts. Thread-safe."""

    def __init__(self, plugins: Plugins, group_id: str, rules: Rules | None = None) -> None:
        self.levels = Loggers()
        self._plugins = plugins
        self._own_checks = OwnChecks()
        self._validator = Validator(plugins, group_id, rules, self._own_checks)
        self.validation = GuardedValidator(self._validator)

    def close(self) -> None:
        """End its child processes."""
        self._own_checks.close()

    def root(self) -> dict[str, str]:
        """Versions; the id of the Kafka cluster is not known yet."""
        return {**versions.described(), "kafka_cluster_id": ""}

    def health(self) -> tuple[str, str]:
        """That the worker is starting."""
        return "starting", STARTING

    def loggers(self) -> dict[str, Any]:
        """The levels of this worker's loggers."""
        return self.levels.all()

    def logger(self, name: str) -> dict[str, Any]:
        """The level of one logger."""
        return self.levels.one(name)

    def set_logger_level(self, name: str, level: str | None) -> list[str]:
        """Change the level of a logger and of those below it; the names of those that changed."""
        return self.levels.change(name, level)

    def plugins(self, connectors_only: bool = True) -> list[dict[str, str]]:
        """The installed plugins."""
        return [plugin.to_json() for plugin in self._plugins.listed(connectors_only)]

    def plugin_config(self, plugin: str) -> list[dict[str, Any]]:
        """The config keys of a plugin."""
        found = self._plugins.find(plugin)
        if found is None:
            raise NotFound(self._plugins.missing(plugin) or f"Unknown plugin {plugin}.")
        return [key.describe() for key in self._validator.keys_of(found)]

    def validate(self, plugin: str, config: Mapping[str, str | None]) -> dict[str, Any]:
        """Validate a configuration; errors are part of the answer."""
        sent = (config.get("connector.class") or "").strip()
        if sent and not _same_type(sent, plugin):
            raise BadRequest(f"Included connector type {sent} does not match request type {plugin}")
        return self.validation.validate(config).to_json(sent)


def _same_type(sent: str, asked: str) -> bool:
    """Compared without ``Connector`` at the end, as a suffix, in capitals or not."""
    ours, theirs = (name.lower().removesuffix("connector") for name in (sent, asked))
    return ours.endswith(theirs)
