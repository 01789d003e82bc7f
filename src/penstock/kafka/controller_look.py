"""Asks a cluster for what only kafka-python can: its version and its clock. Read-only."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Any

from penstock.kafka.clients import Connection
from penstock.sdk.errors import ConfigError

QUICK_SECONDS = 0.5
MOST_ANSWERS = 4


@dataclass(frozen=True)
class ControllerLook:
    """What a cluster reports about itself."""

    version: str = ""
    """The newest Kafka release whose requests the broker supports, e.g. 4.3; empty: unknown."""
    ahead: float | None = None
    """Seconds by which the controller's clock is ahead of ours; None: unknown."""


def look_at_controller(connection: Connection, broker: int, seconds: float) -> ControllerLook:
    """Ask ``broker``; what it does not answer in time stays unknown."""
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
        return ControllerLook(".".join(map(str, version)), _ahead(client, KafkaError, seconds))
    except KafkaError:
        return ControllerLook()
    finally:
        client.close()


def _ahead(client: Any, no_answer: type[Exception], seconds: float) -> float | None:
    """Uses the fastest of a few answers, which is the most accurate."""
    answers: list[tuple[float, float]] = []
    with contextlib.suppress(no_answer):
        while (told := _told(client)) is not None:
            answers.append(told)
            spent = [took for took, _ in answers]
            if min(spent) <= QUICK_SECONDS or sum(spent) > seconds or len(spent) == MOST_ANSWERS:
                break
    return min(answers)[1] if answers else None


def _told(client: Any) -> tuple[float, float] | None:
    """How long the answer took, and how far ahead the controller's clock is.

    The quorum leader's own "last caught up" timestamp is its clock at the time of the answer.
    """
    asked = time.time()
    (topic,) = client.describe_metadata_quorum()["topics"]
    answered = time.time()
    (quorum,) = topic["partitions"]
    told = [
        voter["last_caught_up_timestamp"]
        for voter in quorum["current_voters"]
        if voter["replica_id"] == quorum["leader_id"]
    ]
    # Releases before 3.3 do not have this timestamp and return -1.
    if not told or told[0] <= 0:
        return None
    return answered - asked, told[0] / 1000 - (asked + answered) / 2
