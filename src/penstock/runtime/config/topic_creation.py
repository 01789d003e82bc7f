"""``topic.creation.*``: how a source connector's topics are created."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from penstock.columnar.java_regex import java_regex
from penstock.engine.lease.new_topics import TopicGroup
from penstock.sdk.config import (
    REQUIRED,
    ConfigDef,
    ConfigKey,
    Importance,
    Type,
    Validator,
    Width,
    invalid_value,
)

PREFIX = "topic.creation."
GROUPS = "topic.creation.groups"
DEFAULT = "default"
OWN_KEYS = ("include", "exclude", "replication.factor", "partitions")
REPLICATION = (
    "Replication factor must be positive and not larger than the number of brokers in the Kafka "
    "cluster, or -1 to use the broker's default"
)
PARTITIONS = "Number of partitions must be positive, or -1 to use the broker's default"


def creation_keys(config: Mapping[str, str | None]) -> ConfigDef:
    """The keys of every group; none unless the config has keys for topic creation."""
    if not any(key.startswith(PREFIX) for key in config):
        return ConfigDef()
    groups = (_group_keys(alias, config) for alias in _aliases(config))
    return ConfigDef(*_default_keys(), *(key for keys in groups for key in keys))


def topic_groups(config: Mapping[str, str]) -> tuple[TopicGroup, ...]:
    """The groups of a valid config, the default one last; none if topics are not created."""
    values = creation_keys(config).parse(config)
    names = [*_aliases(config), DEFAULT] if values else []
    return tuple(_group(name, values, config) for name in names)


def _group(name: str, values: Mapping[str, Any], config: Mapping[str, str]) -> TopicGroup:
    prefix = f"{PREFIX}{name}."
    own = {k.removeprefix(prefix): v for k, v in config.items() if k.startswith(prefix)}
    return TopicGroup(
        name,
        values[prefix + "partitions"],
        values[prefix + "replication.factor"],
        (".*",) if name == DEFAULT else values[prefix + "include"],
        () if name == DEFAULT else values[prefix + "exclude"],
        {k: v.strip() for k, v in own.items() if k not in OWN_KEYS},
    )


def _aliases(config: Mapping[str, str | None]) -> list[str]:
    """The groups that are named; the default one always exists."""
    named = re.split(r"\s*,\s*", (config.get(GROUPS) or "").strip())
    return [alias for alias in dict.fromkeys(named) if alias and alias != DEFAULT]


def _default_keys() -> list[ConfigKey]:
    return [_replication(DEFAULT, REQUIRED), _partitions(DEFAULT, REQUIRED)]


def _group_keys(alias: str, config: Mapping[str, str | None]) -> list[ConfigKey]:
    default = f"{PREFIX}{DEFAULT}."
    return [
        _patterns(alias, "include", "Regular expressions of the topics in this group."),
        _patterns(alias, "exclude", "Regular expressions of topics excluded from this group."),
        _replication(alias, _number(config.get(default + "replication.factor"))),
        _partitions(alias, _number(config.get(default + "partitions"))),
    ]


def _number(text: str | None) -> int:
    """What a group inherits; if it is wrong, the default group's own key reports it."""
    return int(text) if text and re.fullmatch(r"\s*(-1|[1-9]\d{0,4})\s*", text) else -1


def _patterns(alias: str, key: str, doc: str) -> ConfigKey:
    return _key(alias, key, Type.LIST, [], doc=doc, validator=_regexes)


def _replication(alias: str, default: Any) -> ConfigKey:
    doc = "Replicas of new topics; -1: the broker's default."
    check = positive_or_default(REPLICATION)
    return _key(alias, "replication.factor", Type.SHORT, default, doc=doc, validator=check)


def _partitions(alias: str, default: Any) -> ConfigKey:
    doc = "Partitions of new topics; -1: the broker's default."
    check = positive_or_default(PARTITIONS)
    return _key(alias, "partitions", Type.INT, default, doc=doc, validator=check)


def _key(alias: str, key: str, kind: Type, default: Any, *, doc: str, validator: Any) -> ConfigKey:
    return ConfigKey(
        f"{PREFIX}{alias}.{key}",
        kind,
        default=default,
        validator=validator,
        importance=Importance.LOW,
        doc=doc,
        group=f"Topic Creation: {alias}",
        width=Width.LONG,
    )


def _regexes(name: str, value: Any) -> None:
    for pattern in value or ():
        java_regex(name, pattern)


def positive_or_default(why: str) -> Validator:
    """Validator: a number above 0, or -1 for the broker's default."""

    def check(name: str, value: Any) -> None:
        if value is not None and value != -1 and value < 1:
            raise invalid_value(name, value, why)

    return check
