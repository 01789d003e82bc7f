"""Offsets of a consumer group without members, set from outside as other tools do."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient


def set_offsets(
    admin: AdminClient, group: str, offsets: Mapping[tuple[str, int], tuple[int, str]]
) -> None:
    """Set them, with their metadata."""
    wanted = [TopicPartition(t, p, o, metadata=m) for (t, p), (o, m) in offsets.items()]
    asked = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, wanted)])
    refused = [tp.error for tp in asked[group].result(20).topic_partitions if tp.error]
    assert not refused, refused
