"""Refuses a group that workers of another kind are using: real Kafka Connect's.

Consumers of ours and workers of Kafka Connect speak different protocols inside a group. The broker
lets only one kind in at a time, but says so in words that help nobody, and only after the storage
topics have been opened.
"""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from penstock.kafka.errors import BrokerUnavailable, KafkaFault, describe
from penstock.kafka.topics import ADMIN_TIMEOUT

OURS = "consumer"


class GroupTaken(KafkaFault):
    """Another kind of cluster is alive in the group; the message says what to do."""


def refuse_foreign_group(client: AdminClient, group: str) -> None:
    """GroupTaken while ``group`` has members of another protocol type than ours."""
    try:
        # The client's types know the fields of its answer only as the None they begin with.
        found: list[Any] = client.list_groups(group, timeout=ADMIN_TIMEOUT)
    except KafkaException as error:
        raise BrokerUnavailable(describe(error)) from error
    for entry in found:
        if entry.members and entry.protocol_type != OURS:
            raise GroupTaken(_refusal(group, entry.protocol_type, entry.members))


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
