"""The consumer group of a sink's offsets: its own, or one that its config names."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.kafka.names import default_owner, sink_group
from penstock.kafka.sink_copies import SinkGroup
from penstock.runtime.config.override_policy import SINK_GROUP_KEY
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.plugins import Plugins
from penstock.runtime.stores.config_store import ConfigStore
from penstock.sdk.errors import ConfigError

SHARED = (
    "Connector {other} keeps its offsets in the same consumer group. Both would read every record "
    "and overwrite each other's offsets: give one of them another "
    f"{SINK_GROUP_KEY}."
)


def chosen_group(name: str, config: Mapping[str, str]) -> SinkGroup:
    """The group of a sink with this config, whose references are resolved."""
    return SinkGroup(name, config.get(SINK_GROUP_KEY, "").strip() or sink_group(name))


def group_errors(config: Mapping[str, str], worker_group: str) -> list[tuple[str, str]]:
    """(key, message) if a sink with this config cannot have the group that it names."""
    name = config.get("name", "")
    if chosen_group(name, config).group_id != worker_group:
        return []
    conflict = f"conflicts with Connect worker group {worker_group}"
    if SINK_GROUP_KEY in config:
        return [(SINK_GROUP_KEY, f"Consumer group {worker_group} {conflict}")]
    return [("name", f"Consumer group for sink connector named {name} {conflict}")]


class SinkGroups:
    """The groups of stored sinks. Thread-safe."""

    def __init__(self, configs: ConfigStore, plugins: Plugins, rules: Rules) -> None:
        self._configs = configs
        self._plugins = plugins
        self._rules = rules

    def of(self, name: str) -> SinkGroup:
        """The group of a stored sink; ConfigError if it is in use, or not allowed."""
        return self.named(name, self._configs.config(name) or {})

    def named(self, name: str, config: Mapping[str, str]) -> SinkGroup:
        """The group of a sink with this config, whose references are not resolved yet."""
        if SINK_GROUP_KEY not in config:
            return SinkGroup(name, sink_group(name))
        self._rules.overrides.require("consumer", "group.id")
        found = self._rules.providers.resolve({SINK_GROUP_KEY: config[SINK_GROUP_KEY]})
        return chosen_group(name, found.config)

    def refuse_shared(self, sink: SinkGroup) -> None:
        """ConfigError if another connector keeps its offsets in this group."""
        named = self._configs.with_key(SINK_GROUP_KEY)
        for other in (*named, default_owner(sink.group_id)):
            if other not in ("", sink.connector) and self._has(other, sink.group_id):
                raise ConfigError(SHARED.format(other=other))

    def _has(self, name: str, group_id: str) -> bool:
        try:
            mine = self.of(name).group_id == group_id
        except ConfigError:
            return False  # it cannot run
        return mine and self._plugins.is_sink(self._configs.config(name) or {})
