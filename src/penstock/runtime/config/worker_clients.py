"""``producer.*``, ``consumer.*`` and ``admin.*`` of a worker's config: settings of its clients.

Settings that librdkafka does not have, or that the worker itself needs otherwise, are left out and
reported: a config that was written for Kafka Connect keeps working.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.kafka.client_settings import (
    CLIENTS,
    acceptable,
    client_settings,
    refusal,
    translated,
)
from penstock.sdk.errors import ConfigError

CLIENT_KEYS = (
    "security.protocol",
    "sasl.",
    "ssl.",
    "client.dns.lookup",
    "client.id",
    "connections.max.idle.ms",
    "metadata.max.age.ms",
    "receive.buffer.bytes",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "send.buffer.bytes",
    "socket.connection.setup.timeout.ms",
)
"""Without a prefix, these apply to every client of the worker; some are prefixes themselves."""
UNKNOWN = "No such configuration property"


@dataclass(frozen=True)
class WorkerClients:
    """Settings by kind of client, and the keys of the config that have no effect."""

    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def of(self, kind: str) -> Mapping[str, Any]:
        """Settings for clients of this kind."""
        return self.settings.get(kind, {})


def worker_clients(properties: Mapping[str, str]) -> WorkerClients:
    """The client settings in the properties; ConfigError for a value that a client rejects."""
    settings: dict[str, Mapping[str, Any]] = {}
    ignored = common_settings(properties)[1]
    for kind in CLIENTS:
        prefix = f"{kind}."
        given = {k.removeprefix(prefix): v for k, v in properties.items() if k.startswith(prefix)}
        kept = {k: v for k, v in given.items() if _means_something(kind, k, given)}
        settings[kind] = _accepted(kind, kept)
        ignored += [prefix + key for key in given if key not in kept]
    return WorkerClients(settings, tuple(ignored))


def common_settings(properties: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Settings that every client of the worker shares, and the keys that have no effect."""
    given = {k: v for k, v in properties.items() if k.startswith(CLIENT_KEYS)}
    kept = {k: v for k, v in given.items() if _means_something("admin", k, given)}
    return client_settings(kept), [key for key in given if key not in kept]


def _means_something(kind: str, key: str, given: Mapping[str, str]) -> bool:
    if not acceptable(kind, key, given[key]):
        return False
    try:
        return UNKNOWN not in refusal(kind, translated(key, given))
    except ConfigError as error:
        if "Java classes" in str(error):
            return False
        raise


def _accepted(kind: str, given: Mapping[str, str]) -> dict[str, Any]:
    settings = client_settings(given)
    if settings and (why := refusal(kind, settings)):
        raise ConfigError(f"{kind}.*: {why}")
    return settings
