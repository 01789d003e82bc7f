"""The worker's configuration: Kafka Connect's keys, plus ``spark.*`` and a few of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.engine.lease.lease import Limits
from penstock.kafka.clients import Connection
from penstock.kafka.names import sink_copies_topic, worker_topic
from penstock.logs.settings import LOG_KEYS
from penstock.runtime.config.auto_restart_keys import AUTO_RESTART_KEYS
from penstock.runtime.config.ignored_keys import warn_of_ignored
from penstock.runtime.config.listeners import LISTENER_KEYS
from penstock.runtime.config.membership_config import MEMBERSHIP_KEYS, membership_timings
from penstock.runtime.config.override_policy import ALLOWLIST_KEY, POLICY_KEY, OverridePolicy
from penstock.runtime.config.part_keys import CONVERTERS, SIMPLE_HEADERS
from penstock.runtime.config.provider_config import providers_of
from penstock.runtime.config.rest_config import REST_KEYS
from penstock.runtime.config.sql_keys import SQL_KEYS
from penstock.runtime.config.storage_config import (
    STORAGE_KEYS,
    STORES,
    create_with_settings,
    replication_of,
)
from penstock.runtime.config.worker_clients import WorkerClients, common_settings, worker_clients
from penstock.runtime.config.worker_rules import Rules
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import absolute_paths, at_least, non_empty, one_of_ignoring_case

STRING_CONVERTER = "org.apache.kafka.connect.storage.StringConverter"

WORKER = ConfigDef(
    ConfigKey(
        "bootstrap.servers",
        default=None,
        importance=Importance.HIGH,
        doc="Kafka brokers, host:port separated by commas. Unset: an embedded broker is started.",
    ),
    ConfigKey(
        "group.id",
        default="penstock",
        validator=non_empty,
        importance=Importance.HIGH,
        doc="Workers with the same group.id form one cluster.",
    ),
    *STORAGE_KEYS,
    ConfigKey(
        "key.converter", Type.CLASS, default=STRING_CONVERTER, doc="Converter of record keys."
    ),
    ConfigKey(
        "value.converter", Type.CLASS, default=STRING_CONVERTER, doc="Converter of record values."
    ),
    ConfigKey(
        "header.converter",
        Type.CLASS,
        default=SIMPLE_HEADERS,
        doc="Converter of record headers. Their values are bytes here, so none changes them.",
    ),
    *MEMBERSHIP_KEYS,
    ConfigKey(
        "offset.flush.interval.ms",
        Type.LONG,
        default=60_000,
        validator=at_least(0),
        doc="Default interval of sources with transaction.boundary=interval. "
        "Other sources commit offsets with their records.",
    ),
    ConfigKey(
        "lease.max.ms",
        Type.INT,
        default=60_000,
        validator=at_least(1000),
        doc="Longest time a task runs before its connector is planned again.",
    ),
    ConfigKey(
        "turn.grace.ms",
        Type.INT,
        default=15_000,
        validator=at_least(1000),
        doc="A task that does not end this long after its lease should have ended hangs: its turn "
        "is cancelled.",
    ),
    ConfigKey(
        "carrier.memory.max.bytes",
        Type.LONG,
        default=None,
        validator=at_least(0),
        doc="Memory beyond which a carrier ends itself; 0 for no limit. Unset: half of what the "
        "machine or container has in which it runs, but at least 1 GB.",
    ),
    ConfigKey(
        "look.interval.max.ms",
        Type.INT,
        default=500,
        validator=at_least(10),
        doc="Longest pause between two checks of an idle source or sink for new records.",
    ),
    ConfigKey(
        "sink.offsets.recommit.interval.ms",
        Type.LONG,
        default=3_600_000,
        validator=at_least(1000),
        doc="How often unchanged sink offsets are committed again, so that they never expire.",
    ),
    *AUTO_RESTART_KEYS,
    ConfigKey(
        "file.allowed.roots",
        Type.LIST,
        default=None,
        validator=absolute_paths,
        doc="Folders that file connectors may read and write, links resolved. Unset: all that the "
        "worker's user can.",
    ),
    *SQL_KEYS,
    ConfigKey(
        "exactly.once.source.support",
        default="enabled",
        validator=one_of_ignoring_case("disabled", "enabled", "preparing"),
        doc="Accepted for compatibility with Kafka Connect: sources are always exactly once.",
    ),
    ConfigKey(
        "topic.tracking.enable",
        Type.BOOLEAN,
        default=True,
        doc="Whether to track the topics that each connector uses.",
    ),
    ConfigKey(
        "topic.tracking.allow.reset",
        Type.BOOLEAN,
        default=True,
        doc="Whether users may reset the tracked topics.",
    ),
    ConfigKey(
        "topic.creation.enable",
        Type.BOOLEAN,
        default=True,
        doc="Whether source connectors may create topics, with topic.creation.* in their config.",
    ),
    ConfigKey(
        POLICY_KEY,
        default="None",
        doc="Which settings of its Kafka clients a connector's config may choose, with "
        "producer.override.*, consumer.override.* and admin.override.*: None, Principal (its "
        "login), Allowlist, or All. Settings that would run code are never allowed.",
    ),
    ConfigKey(
        ALLOWLIST_KEY,
        Type.LIST,
        default=[],
        doc="For the policy Allowlist: names of settings, without prefix. Settings that name a "
        "class, a file or a URL require the policy All.",
    ),
    *LISTENER_KEYS,
    *LOG_KEYS,
    *REST_KEYS,
)


@dataclass(frozen=True)
class WorkerConfig:
    """A checked worker configuration."""

    data_dir: Path
    properties: Mapping[str, str]
    values: Mapping[str, Any]
    rules: Rules = field(default_factory=Rules)
    secrets: tuple[str, ...] = ()
    """The resolved values of references in the worker's own properties."""
    clients: WorkerClients = field(default_factory=WorkerClients)

    @staticmethod
    def from_properties(properties: Mapping[str, str], data_dir: Path) -> WorkerConfig:
        """Check ``properties``; ConfigError says which one is wrong and why."""
        providers = providers_of(properties)
        found = providers.resolve(properties)
        values = WORKER.parse(found.config)
        membership_timings(values)
        policy = OverridePolicy.named(values[POLICY_KEY], values[ALLOWLIST_KEY])
        rules = Rules(providers, policy)
        clients = worker_clients(found.config)
        return WorkerConfig(data_dir, found.config, values, rules, found.secrets, clients)

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def group_id(self) -> str:
        """The cluster this worker belongs to."""
        return str(self["group.id"])

    def connection(self, bootstrap_servers: str) -> Connection:
        """How clients of this worker reach the brokers."""
        return connection_of(self.properties, bootstrap_servers)

    def warn_of_ignored(self) -> None:
        """Log, in one line, which keys have no effect."""
        warn_of_ignored(self.properties, WORKER, self.clients.ignored)

    def replication(self, store: str) -> int:
        """Replicas of the topic of a store (config, offset, status) when it is created."""
        return replication_of(store, self.values)

    def own_topics(self) -> set[str]:
        """The topics in which the workers of the cluster store their state."""
        own = {worker_topic(self.group_id), sink_copies_topic(self.group_id)}
        return {*own, *(self[f"{store}.storage.topic"] for store in STORES)}

    def create_storage_topics(self, admin: AdminClient) -> None:
        """Create the missing topics of stores that have their own topic settings."""
        create_with_settings(admin, self.values, self.properties)

    def limits(self) -> Limits:
        """Limits of a lease."""
        return Limits(lease_seconds=self["lease.max.ms"] / 1000)

    def membership_timings(self) -> dict[str, int]:
        """Settings of the client for this worker's membership in its group."""
        return membership_timings(self.values)

    def spark(self) -> dict[str, str]:
        """The ``spark.*`` keys."""
        return {k: v for k, v in self.properties.items() if k.startswith("spark.")}

    def converters(self) -> dict[str, str]:
        """The converter keys with their sub-keys, for connectors that set none."""
        given = {k: v for k, v in self.properties.items() if k.startswith(CONVERTERS)}
        return {**{key: self[key] for key in CONVERTERS}, **given}


def group_of(properties: Mapping[str, str]) -> str:
    """The cluster that a worker with these properties, checked or not, belongs to."""
    return properties.get("group.id") or str(WORKER["group.id"].default)


def connection_of(properties: Mapping[str, str], bootstrap_servers: str) -> Connection:
    """How clients of a worker with these properties, checked or not, reach the brokers."""
    security = common_settings(properties)[0]
    return Connection(bootstrap_servers, security, reading_as=group_of(properties))
