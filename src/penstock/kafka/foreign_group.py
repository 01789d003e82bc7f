"""Refuses a group that workers of another kind are using: real Kafka Connect's.

Consumers of ours and workers of Kafka Connect speak different protocols inside a group. The broker
lets only one kind in at a time, but says so in words that help nobody, and only after the storage
topics have been opened.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from penstock.kafka.errors import KafkaFault

log = logging.getLogger(__name__)

OURS = "consumer"
WAIT_SECONDS, RETRY_SECONDS = 5.0, 0.1


class GroupTaken(KafkaFault):
    """Another kind of cluster is alive in the group; the message says what to do."""


def refuse_foreign_group(client: AdminClient, group: str) -> None:
    """GroupTaken while ``group`` has members of another protocol type than ours.

    A broker that has just started may not know its groups yet. If it does not say in time, the
    group counts as free: should it not be, the broker will not let this worker join.
    """
    for entry in _described(client, group):
        if entry.members and entry.protocol_type != OURS:
            raise GroupTaken(_refusal(group, entry.protocol_type, entry.members))


def _described(client: AdminClient, group: str) -> list[Any]:
    """The group, if it is there; the client's types know the fields of its answer only as None."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return list(client.list_groups(group, timeout=WAIT_SECONDS))
        except KafkaException as error:
            if time.monotonic() > deadline:
                log.warning("the broker does not tell who is in group %s: %s", group, error)
                return []
            time.sleep(RETRY_SECONDS)


def _refusal(group: str, kind: str, members: list[Any]) -> str:
    who = "a running Kafka Connect cluster" if kind == "connect" else f"a group of type '{kind}'"
    workers = ", ".join(sorted(f"{m.client_id} at {m.client_host.lstrip('/')}" for m in members))
    return (
        f"Group '{group}' belongs to {who} ({workers}). Only one kind of worker can use it at a "
        "time: stop those workers first and start this one again, which then carries on where "
        "they stood (a worker that was killed leaves the group after its session.timeout.ms, "
        "10 s by default). To run beside them instead, give this worker another group.id and "
        "other storage topics."
    )
