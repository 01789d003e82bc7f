"""What only kafka-python can ask a cluster for: its version and its clock. Writes nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from penstock.kafka.clients import Connection
from penstock.sdk.errors import ConfigError


@dataclass(frozen=True)
class ControllerLook:
    """What a cluster says of itself."""

    version: str = ""
    """The newest Kafka release whose requests the broker knows, such as 4.3; empty: unknown."""
    ahead: float | None = None
    """Seconds by which the controller's clock is ahead of ours; None: it does not tell."""


def look_at_controller(connection: Connection, broker: int, seconds: float) -> ControllerLook:
    """Ask ``broker``; what it does not tell, or not in time, stays unknown."""
    # Imported here: nothing else needs it so early, and confluent-kafka cannot do it.
    from kafka.admin import KafkaAdminClient
    from kafka.errors import KafkaError

    limit = int(seconds * 1000)
    limits = {"bootstrap_timeout_ms": limit, "request_timeout_ms": limit}
    try:
        client = KafkaAdminClient(**connection.kafka_python_settings(), **limits)
    except (KafkaError, ConfigError):
        return ControllerLook()
    try:
        version = client.get_broker_version_data(broker).broker_version
        return ControllerLook(".".join(map(str, version)), _ahead(client, KafkaError))
    except KafkaError:
        return ControllerLook()
    finally:
        client.close()


def _ahead(client: Any, no_answer: type[Exception]) -> float | None:
    """The quorum's leader has caught up with itself at the moment it answers: that is its clock."""
    asked = time.time()
    try:
        (topic,) = client.describe_metadata_quorum()["topics"]
    except no_answer:
        return None
    answered = time.time()
    (quorum,) = topic["partitions"]
    told = [
        voter["last_caught_up_timestamp"]
        for voter in quorum["current_voters"]
        if voter["replica_id"] == quorum["leader_id"]
    ]
    # Releases before 3.3 have no such time, and say -1.
    return told[0] / 1000 - (asked + answered) / 2 if told and told[0] > 0 else None
