"""A mirror's configuration, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.plugins.mirror import mirror_config as keys
from penstock.plugins.mirror.client_settings import CONSUMER, SOURCE, TARGET, client_settings
from penstock.plugins.mirror.topic_names import TopicNames, patterns
from penstock.sdk.errors import ConfigError


@dataclass(frozen=True)
class MirrorSettings:
    """What the connector and its tasks need to know."""

    read: Mapping[str, Any]
    names: TopicNames
    source: Mapping[str, Any]
    target: Mapping[str, Any]
    consumer: Mapping[str, Any]

    @classmethod
    def of(cls, config: Mapping[str, str]) -> MirrorSettings:
        """``ConfigError`` names the key that is wrong, and what to write."""
        read = keys.MIRROR_CONFIG.parse(config)
        _check(read, config)
        patterns(keys.CONFIGS_EXCLUDE, read[keys.CONFIGS_EXCLUDE])
        source = client_settings(config, *SOURCE)
        consumer = client_settings(config, *CONSUMER)
        return cls(
            read,
            TopicNames.of(read),
            source,
            client_settings(config, *TARGET),
            {**source, **consumer},
        )

    @property
    def alias(self) -> str:
        """The source cluster's name."""
        return self.names.alias

    @property
    def servers(self) -> str:
        """Where the source cluster is."""
        return ",".join(self.read[keys.SOURCE_SERVERS])

    @property
    def committed(self) -> bool:
        """Whether only committed records are mirrored."""
        given = self.consumer.get("isolation.level", self.read[keys.ISOLATION])
        return str(given).lower() == "read_committed"

    @property
    def from_the_end(self) -> bool:
        """Whether a partition without an offset begins at its end."""
        given = self.consumer.get("auto.offset.reset", self.read[keys.RESET])
        return str(given).lower() == "latest"


def _check(read: Mapping[str, Any], config: Mapping[str, str]) -> None:
    if not read[keys.ENABLED]:
        message = f"'{keys.ENABLED}' must be true: pause the connector instead."
        raise ConfigError(message, key=keys.ENABLED)
    if read[keys.SOURCE_ALIAS] == read[keys.TARGET_ALIAS]:
        message = "The clusters need different aliases."
        raise ConfigError(message, key=keys.TARGET_ALIAS)
    exactly = config.get("exactly.once.support", "").strip().lower() == "required"
    levels = (config.get("source.consumer.isolation.level"), read[keys.ISOLATION])
    if exactly and next(filter(None, levels)).strip().lower() != "read_committed":
        raise ConfigError(
            "Exactly once needs read_committed: otherwise records of aborted transactions are "
            "mirrored too.",
            key=keys.ISOLATION,
        )
