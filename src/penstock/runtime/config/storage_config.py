"""The keys of a worker's config for the topics that hold its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.kafka.compacted_topics import ensure_compacted
from penstock.runtime.config.topic_creation import PARTITIONS, REPLICATION, positive_or_default
from penstock.sdk.config import ConfigKey, Type

STORES = ("config", "offset", "status")
OWN = ("topic", "partitions", "replication.factor", "cleanup.policy", "file.filename")
"""Keys that are not settings of the topic; its cleanup policy is always compact."""


def _partitions(store: str, default: int) -> ConfigKey:
    return ConfigKey(
        f"{store}.storage.partitions",
        Type.INT,
        default=default,
        validator=positive_or_default(PARTITIONS),
        doc=f"Partitions of the {store} topic when it is created; -1: the broker's default.",
    )


def _replication(store: str) -> ConfigKey:
    return ConfigKey(
        f"{store}.storage.replication.factor",
        Type.SHORT,
        default=None,
        validator=positive_or_default(REPLICATION),
        doc=f"Replicas of the {store} topic; unset: storage.replication.factor.",
    )


STORAGE_KEYS = (
    ConfigKey("config.storage.topic", default="penstock-configs", doc="Topic of configs."),
    ConfigKey("offset.storage.topic", default="penstock-offsets", doc="Topic of source offsets."),
    ConfigKey("status.storage.topic", default="penstock-status", doc="Topic of statuses."),
    _partitions("offset", 25),
    _partitions("status", 5),
    ConfigKey(
        "storage.replication.factor",
        Type.SHORT,
        default=-1,
        validator=positive_or_default(REPLICATION),
        doc="Replicas of the topics above when they are created; -1: the broker's default.",
    ),
    *(_replication(store) for store in STORES),
)


def replication_of(store: str, values: Mapping[str, Any]) -> int:
    """Replicas of a store's topic when it is created."""
    given = values[f"{store}.storage.replication.factor"]
    return int(values["storage.replication.factor"] if given is None else given)


def topic_settings(store: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Other settings of a store's topic in the worker's properties, e.g. min.insync.replicas."""
    prefix = f"{store}.storage."
    given = {k.removeprefix(prefix): v for k, v in properties.items() if k.startswith(prefix)}
    return {k: v.strip() for k, v in given.items() if k not in OWN}


def create_with_settings(
    admin: AdminClient, values: Mapping[str, Any], properties: Mapping[str, str]
) -> None:
    """Create topics that have such settings; the stores create all others themselves."""
    for store in STORES:
        if settings := topic_settings(store, properties):
            ensure_compacted(
                admin,
                values[f"{store}.storage.topic"],
                partitions=values.get(f"{store}.storage.partitions", 1),
                replication=replication_of(store, values),
                settings=settings,
            )
