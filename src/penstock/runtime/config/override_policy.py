"""Client overrides: the settings of its Kafka clients that a connector's config may change.

Keys are ``producer.override.*``, ``consumer.override.*`` and ``admin.override.*``. None is allowed
unless the worker's policy allows it: with client settings a user could make the worker log in
elsewhere, read files or fetch URLs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.kafka.client_settings import (
    CLIENTS,
    acceptable,
    client_settings,
    names_a_group,
    refusal,
    translated,
)
from penstock.sdk.config import invalid_value
from penstock.sdk.errors import ConfigError

POLICIES = ("None", "Principal", "All", "Allowlist")
POLICY_KEY = "connector.client.config.override.policy"
ALLOWLIST_KEY = "connector.client.config.override.allowlist"
PRINCIPAL = frozenset(
    {"sasl.jaas.config", "sasl.mechanism", "security.protocol", "sasl.username", "sasl.password"}
)
SINK_GROUP_KEY = "consumer.override.group.id"
"""The group in which a sink keeps its offsets: no client joins it, so any group works."""
NAMES_A_PLACE = re.compile(r".*\b(class|location|file|url|keytab|cmd|paths)")
"""Settings that name a class, a file or a URL: for these an allowlist is not enough."""
RUNS_CODE = frozenset(
    {"plugin.library.paths", "sasl.kerberos.kinit.cmd", "ssl.engine.location", "ssl.providers"}
)


@dataclass(frozen=True)
class OverridePolicy:
    """Which settings of its clients a connector may choose."""

    name: str = "None"
    allowlist: frozenset[str] = frozenset()

    @staticmethod
    def named(given: str, allowlist: list[str]) -> OverridePolicy:
        """By its short name or Kafka's class name; ConfigError if there is no such policy."""
        simple = given.rpartition(".")[2].removesuffix("ConnectorClientConfigOverridePolicy")
        if simple not in POLICIES:
            raise invalid_value(POLICY_KEY, given, f"String must be one of: {', '.join(POLICIES)}")
        return OverridePolicy(simple, frozenset(allowlist))

    def allows(self, key: str) -> bool:
        """Whether a connector may set ``key``."""
        if self.name == "All":
            return key not in RUNS_CODE
        if NAMES_A_PLACE.fullmatch(key) or key in RUNS_CODE:
            return False
        return key in {"Principal": PRINCIPAL, "Allowlist": self.allowlist}.get(self.name, ())

    def require(self, kind: str, key: str) -> None:
        """ConfigError unless a connector may set ``key`` for such a client."""
        if not self.allows(key):
            raise ConfigError(f"{kind}.override.{key}: {self._text(key)}")

    def errors(self, config: Mapping[str, str], kinds: tuple[str, ...]) -> list[tuple[str, str]]:
        """(key, message) for every error in the overrides of these kinds of clients."""
        return [error for kind in kinds for error in self._errors(kind, config)]

    def _errors(self, kind: str, config: Mapping[str, str]) -> list[tuple[str, str]]:
        prefix = f"{kind}.override."
        given = {k.removeprefix(prefix): v for k, v in config.items() if k.startswith(prefix)}
        forbidden = [(prefix + key, self._text(key)) for key in given if not self.allows(key)]
        return forbidden or (_wrong_values(kind, prefix, given) if given else [])

    def _text(self, key: str) -> str:
        return (
            f"The '{self.name}' policy does not allow '{key}' to be overridden in the connector "
            "configuration."
        )


def clients_used(config: Mapping[str, str], *, sink: bool) -> tuple[str, ...]:
    """The kinds of clients that a connector has: overrides of others have no effect."""
    if not sink:
        return ("producer", "admin")
    dead_letters = config.get("errors.deadletterqueue.topic.name", "").strip()
    return ("consumer", "producer", "admin") if dead_letters else ("consumer",)


def overrides_in(config: Mapping[str, str]) -> dict[str, str]:
    """The entries of ``config`` that are overrides."""
    prefixes = tuple(f"{kind}.override." for kind in CLIENTS)
    return {k: v for k, v in config.items() if k.startswith(prefixes)}


def _wrong_values(kind: str, prefix: str, given: Mapping[str, str]) -> list[tuple[str, str]]:
    unusable = [(prefix + k, text) for k, v in given.items() if (text := _unusable(kind, k, v))]
    if unusable:
        return unusable
    try:
        settings = client_settings(given)
    except ConfigError as error:
        return [(prefix + (error.key or ""), f"{prefix}{error}")]
    why = refusal(kind, settings)
    return [_blamed(why, kind, given)] if why else []


def _unusable(kind: str, key: str, value: str) -> str:
    """Why a value cannot be used here; "" if it can."""
    if f"{kind}.override.{key}" == SINK_GROUP_KEY:
        return "" if names_a_group(value) else f"'{key}' is empty: name a group, or remove the key"
    return "" if acceptable(kind, key, value) else _held(key)


def _held(key: str) -> str:
    return (
        f"'{key}' cannot be overridden: records and offsets go to the worker's brokers in one "
        "transaction, and this setting is part of that."
    )


def _blamed(why: str, kind: str, given: Mapping[str, str]) -> tuple[str, str]:
    """The wrong key: the one that librdkafka names, or the one that it rejects by itself."""
    named = [key for key in given if f'"{key}"' in why or f"`{key}`" in why]
    alone = (key for key in given if refusal(kind, translated(key, given)))
    key = f"{kind}.override.{named[0] if named else next(alone, next(iter(given)))}"
    return key, f"Invalid value for configuration {key}: {why}"
