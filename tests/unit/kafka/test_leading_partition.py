"""Who leads where the workers' topic has been given more partitions than its one."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

from confluent_kafka import TopicPartition

from penstock.kafka.clients import Connection
from penstock.kafka.membership import GroupMember

FIRST, SECOND = [TopicPartition("workers", 0)], [TopicPartition("workers", 1)]


def test_only_the_owner_of_the_first_partition_leads() -> None:
    deposed, consumer = Mock(), Mock()
    nothing: Any = Mock()
    membership = GroupMember(
        Connection("127.0.0.1:1"),
        "group",
        "workers",
        on_joined=nothing,
        on_elected=nothing,
        on_deposed=deposed,
        timings={},
    )
    owned = []
    for change, partitions in (
        (membership._assigned, SECOND),
        (membership._assigned, FIRST),
        (membership._revoked, SECOND),
        (membership._revoked, FIRST),
    ):
        change(consumer, partitions)
        owned.append(membership.owner)
    assert owned == [False, True, True, False]
    deposed.assert_called_once_with()
