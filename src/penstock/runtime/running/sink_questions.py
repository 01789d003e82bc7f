"""Asks Kafka about a sink's partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient

from penstock.kafka import partition_offsets, topics
from penstock.kafka.partition_offsets import Answers
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import PartitionId
from penstock.runtime.stores.position_copies import PositionCopies
from penstock.runtime.stores.sink_positions import known_positions
from penstock.runtime.stores.sink_snapshot import Positions


@dataclass
class KafkaQuestions:
    """Implements ``sink_snapshot.Questions``; create a new one after each fencing."""

    admin: AdminClient
    copies: PositionCopies
    sink: SinkGroup
    settled: bool = False
    """Whether all earlier copies have been read: from then on, only our own leases write any."""

    def positions(self, partitions: Iterable[PartitionId]) -> Positions:
        """What is committed, for these partitions at least, and in which topics."""
        self.settled = self.settled or self.copies.catch_up(self.sink)
        return known_positions(self.admin, self.copies, self.sink, partitions, settled=self.settled)

    def begins(self, partitions: Iterable[PartitionId]) -> Answers:
        """The first offsets that partitions still have."""
        return partition_offsets.beginnings(self.admin, partitions)

    def ends(self, partitions: Iterable[PartitionId], *, committed: bool = False) -> Answers:
        """High watermarks, or last stable offsets."""
        return partition_offsets.ends(self.admin, partitions, committed=committed)

    def topic_ids(self, names: Iterable[str]) -> Mapping[str, str]:
        """Ids of the topics that exist."""
        return topics.ids(self.admin, names)
