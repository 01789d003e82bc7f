"""Which topics are mirrored, and what they are called in the other cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.plugins.mirror import mirror_config as keys
from penstock.sdk.errors import ConfigError

_HEARTBEATS: Final = "heartbeats"


@dataclass(frozen=True)
class TopicNames:
    """MirrorMaker's topic filter and its two replication policies."""

    alias: str
    target: str
    separator: str
    identity: bool
    same_cluster: bool
    wanted: Sequence[re.Pattern[str]]
    unwanted: Sequence[re.Pattern[str]]

    @classmethod
    def of(cls, read: Mapping[str, Any]) -> TopicNames:
        """``ConfigError`` for what would never end, and for a policy that is not there."""
        identity = _is_identity(read[keys.POLICY])
        same = set(read[keys.SOURCE_SERVERS]) == set(read[keys.TARGET_SERVERS])
        if identity and same:
            raise ConfigError(
                "Topics cannot be mirrored into themselves: within one cluster, names have to "
                f"change. Use {keys.DEFAULT_POLICY}.",
                key=keys.POLICY,
            )
        return cls(
            read[keys.SOURCE_ALIAS],
            read[keys.TARGET_ALIAS],
            read[keys.SEPARATOR],
            identity,
            same,
            patterns(keys.TOPICS, read[keys.TOPICS]),
            patterns(keys.EXCLUDE, read[keys.EXCLUDE]),
        )

    def mirrored(self, topic: str) -> bool:
        """Whether a topic of the source cluster is to be read."""
        return (
            matches(self.wanted, topic)
            and not matches(self.unwanted, topic)
            and not self._comes_from_there(topic)
        )

    def remote(self, topic: str) -> str:
        """What it is called in the target cluster."""
        if self.identity and not topic.endswith(_HEARTBEATS):
            return topic
        return f"{self.alias}{self.separator}{topic}"

    def _comes_from_there(self, topic: str) -> bool:
        """Whether it was mirrored from the target cluster, over whichever others."""
        if self.identity or not self.separator:
            return False
        *through, _ = topic.split(self.separator)
        return self.target in through or (self.same_cluster and through[:1] == [self.alias])


def patterns(key: str, texts: Sequence[str] | None) -> list[re.Pattern[str]]:
    """``ConfigError`` names one that is not a regular expression."""
    return [_compiled(key, text) for text in texts or ()]


def matches(some: Sequence[re.Pattern[str]], name: str) -> bool:
    """Whether one of these is about the whole name."""
    return any(pattern.fullmatch(name) for pattern in some)


def _compiled(key: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError(f"{text} is not a regular expression: {error}.", key=key) from None


def _is_identity(policy: str) -> bool:
    for known in (keys.DEFAULT_POLICY, keys.IDENTITY_POLICY):
        if policy in (known, known.rpartition(".")[2]):
            return known == keys.IDENTITY_POLICY
    raise ConfigError(
        f"{policy} cannot run here. Use {keys.DEFAULT_POLICY} or {keys.IDENTITY_POLICY}.",
        key=keys.POLICY,
    )
