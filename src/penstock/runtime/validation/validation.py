"""Validation of a connector's configuration: every error at once, in Kafka Connect's shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.runtime.config.connector_config import SINK, SOURCE, sink_topic_errors
from penstock.runtime.config.override_policy import clients_used
from penstock.runtime.config.part_keys import VERSION, Parts
from penstock.runtime.config.sql_transforms import sql_transform_errors
from penstock.runtime.config.topic_creation import creation_keys
from penstock.runtime.config.transaction_boundary import boundary_errors
from penstock.runtime.config.version_ranges import as_range, is_wanted
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.errors import BadRequest
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.stores.sink_groups import group_errors
from penstock.runtime.validation.own_checks import Errors, asked_here
from penstock.runtime.validation.redaction import redacted, resolved_to_validate
from penstock.sdk.config import NULL_VALUE, ConfigDef, ConfigKey, ConfigValue, Type
from penstock.sdk.connectors import Connector, SinkConnector

INVALID = (
    "Connector configuration is invalid and contains the following {count} error(s):{errors}\n"
    "You can also find the above list of errors at the endpoint "
    "`/connector-plugins/{{connectorType}}/config/validate`"
)

NO_VERSION = "Plugin {} not found that matches the version range {}, available versions: [{}]"


@dataclass(frozen=True)
class Validated:
    """The outcome of a validation."""

    plugin: Plugin
    definition: ConfigDef
    values: list[ConfigValue]

    @property
    def errors(self) -> list[str]:
        """All messages, in the order of the keys."""
        return [message for value in self.values for message in value.errors]

    def raise_if_invalid(self) -> None:
        """BadRequest with every message, if there is any."""
        if self.errors:
            lines = "".join(f"\n{message}" for message in self.errors)
            raise BadRequest(INVALID.format(count=len(self.errors), errors=lines)).advising(
                "Correct these values and apply it again."
            )

    def to_json(self, class_name: str) -> dict[str, Any]:
        """Kafka Connect's ConfigInfos."""
        return {
            "name": class_name,
            "error_count": len(self.errors),
            "groups": self.definition.groups(),
            "configs": [self._info(value) for value in self.values],
        }

    def _info(self, value: ConfigValue) -> dict[str, Any]:
        known = value.name in self.definition
        return {
            "definition": self.definition[value.name].describe() if known else None,
            "value": {
                "name": value.name,
                "value": value.value,
                "recommended_values": list(value.recommended_values),
                "errors": list(value.errors),
                "visible": value.visible,
            },
        }


class Validator:
    """Validates connector configurations against the installed plugins."""

    def __init__(
        self,
        plugins: Plugins,
        group_id: str,
        rules: Rules | None = None,
        own_checks: Callable[[type[Connector], Mapping[str, str]], Errors] = asked_here,
    ) -> None:
        self._own_checks = own_checks
        self._plugins = plugins
        self._group_id = group_id
        self._rules = rules or Rules()
        self._parts = Parts(plugins)

    def validate(self, config: Mapping[str, str | None]) -> Validated:
        """Check everything; BadRequest only if the connector's class is unknown."""
        class_name = (config.get("connector.class") or "").strip()
        if not class_name:
            raise BadRequest("Connector config contains no connector type")
        plugin = self._plugins.connector(class_name)
        sent = {k: v for k, v in config.items() if v is not None}
        found = resolved_to_validate(self._rules.providers, sent)
        present = found.config
        config = {**dict.fromkeys(config.keys() - sent.keys()), **present}
        _refuse_no_version(present.get(VERSION, ""))
        definition = self.definition(plugin, config)
        values = definition.validate(config)
        extra = [
            *((k, NULL_VALUE) for k, v in config.items() if v is None and k not in definition),
            *self._framework_errors(plugin, present),
            *self._own_errors(plugin, present, values),
        ]
        named = [self._named_in_full(definition[value.name], value) for value in values]
        return Validated(plugin, definition, redacted(_with_errors(named, extra), sent, found))

    def _named_in_full(self, key: ConfigKey, value: ConfigValue) -> ConfigValue:
        if key.type is not Type.CLASS or not value.value:
            return value
        return replace(value, value=self._parts.class_name(key, value.value))

    def definition(self, plugin: Plugin, config: Mapping[str, str | None]) -> ConfigDef:
        """The framework's keys and the connector's own, with those of its parts."""
        own: ConfigDef = plugin.cls.config_def
        parts = self._parts
        sink = issubclass(plugin.cls, SinkConnector)
        framework = parts.described(SINK if sink else SOURCE, plugin, config)
        if not sink:
            framework += creation_keys(config)
        return framework + parts.alias_keys(config) + own + parts.converter_keys(config)

    def keys_of(self, plugin: Plugin) -> list[ConfigKey]:
        """A plugin's own keys; for a connector, followed by those of the framework."""
        own: ConfigDef = plugin.cls.config_def
        if not issubclass(plugin.cls, Connector):
            return list(own)
        return [*own, *(key for key in self.definition(plugin, {}) if key.name not in own)]

    def _framework_errors(self, plugin: Plugin, config: Mapping[str, str]) -> list[tuple[str, str]]:
        errors = [*_version_errors(plugin, config), *self._parts.unknown(config)]
        errors += sql_transform_errors(self._plugins, plugin, config)
        sink = issubclass(plugin.cls, SinkConnector)
        errors += self._rules.overrides.errors(config, clients_used(config, sink=sink))
        if not sink:
            errors += boundary_errors(config)
        if sink:
            errors += sink_topic_errors(config)
            errors += group_errors(config, self._group_id)
        return errors

    def _own_errors(
        self, plugin: Plugin, config: Mapping[str, str], values: list[ConfigValue]
    ) -> list[tuple[str, str]]:
        """The connector's own checks over several keys, once each key alone is valid."""
        own = {key.name for key in plugin.cls.config_def}
        if any(value.errors for value in values if value.name in own):
            return []
        return list(self._own_checks(plugin.cls, self._plugins.handed(plugin, config)))


def _refuse_no_version(wanted: str) -> None:
    try:
        is_wanted("", wanted)
    except ValueError:
        raise BadRequest(f"Invalid version specification: {wanted}") from None


def _version_errors(plugin: Plugin, config: Mapping[str, str]) -> list[tuple[str, str]]:
    """A plugin is installed in one version: it does not run in place of another version."""
    wanted = config.get(VERSION, "").strip()
    if is_wanted(plugin.version, wanted):
        return []
    told = NO_VERSION.format(plugin.class_name, as_range(wanted), plugin.version)
    return [("connector.class", told), (VERSION, told)]


def _with_errors(values: list[ConfigValue], extra: list[tuple[str, str]]) -> list[ConfigValue]:
    known = {value.name for value in values}
    unknown = [
        ConfigValue(key, None, [], [m for k, m in extra if k == key], True)
        for key in dict.fromkeys(k for k, _ in extra if k not in known)
    ]
    merged = [
        replace(value, errors=[*value.errors, *(m for k, m in extra if k == value.name)])
        for value in values
    ]
    return [*unknown, *merged]
