"""Names that Kafka Connect gives to ids and groups, and so do we."""

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
    """The connector whose group this is if it names no other; "" if it is nobody's."""
    return group.removeprefix(SINK_PREFIX) if group.startswith(SINK_PREFIX) else ""


def worker_topic(group_id: str) -> str:
    """The one-partition compacted topic whose owner leads the cluster."""
    return f"{group_id}-workers"


def client_id(kind: str, connector: str, task: int) -> str:
    """Kafka Connect's client ids, e.g. ``connector-producer-orders-0``."""
    return f"connector-{kind}-{connector}-{task}"
