"""Names of ids and groups, which are Kafka Connect's."""

from __future__ import annotations

SINK_PREFIX = "connect-"


def transactional_id(group_id: str, connector: str, task: int) -> str:
    """The producer id of one task (KIP-618)."""
    return f"{group_id}-{connector}-{task}"


def leader_transactional_id(group_id: str) -> str:
    """The producer id with which the leader writes the config topic."""
    return f"connect-cluster-{group_id}"


def sink_group(connector: str) -> str:
    """The consumer group in which a sink connector keeps its offsets if it names no other."""
    return f"{SINK_PREFIX}{connector}"


def default_owner(group: str) -> str:
    """The connector whose default group this is; "" if it is not a connector's."""
    return group.removeprefix(SINK_PREFIX) if group.startswith(SINK_PREFIX) else ""


def worker_topic(group_id: str) -> str:
    """The one-partition compacted topic whose owner is the leader of the cluster."""
    return f"{group_id}-workers"


def sink_copies_topic(group_id: str) -> str:
    """The compacted topic with a copy of every sink's offsets."""
    return f"{group_id}-sink-offsets"


def client_id(kind: str, connector: str, task: int) -> str:
    """Kafka Connect's client ids, e.g. ``connector-producer-orders-0``."""
    return f"connector-{kind}-{connector}-{task}"
