"""The copy of a sink's offsets, which is written in the transaction that commits them."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.engine.lease.lease import SinkLease
from penstock.kafka.groups import Committed
from penstock.kafka.sink_copies import SinkGroup, copy_key, copy_value
from penstock.kafka.topics import PartitionId
from penstock.kafka.transactions import Transactions


def send_copies(
    producer: Transactions, lease: SinkLease, ends: Mapping[PartitionId, Committed]
) -> None:
    """Add copies of these offsets to the open transaction."""
    sink = SinkGroup(lease.connector, lease.group)
    for (topic, partition), (end, metadata) in ends.items():
        key = copy_key(sink, topic, partition)
        value = copy_value(end, metadata, lease.topic_ids.get(topic))
        producer.send(lease.copy_topic, value, key, partition=lease.copy_partition)
