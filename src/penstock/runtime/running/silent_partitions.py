"""Partitions that Kafka does not answer for: left out, and logged when that starts and ends."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from penstock.kafka.errors import KafkaFault
from penstock.kafka.topics import PartitionId

log = logging.getLogger(__name__)


class SilentPartitions:
    """The silent partitions of one sink. Used by its look and turn, which never run at once."""

    def __init__(self) -> None:
        self._told: set[PartitionId] = set()

    def note(self, faults: Mapping[PartitionId, KafkaFault]) -> None:
        """Set the partitions that are silent now."""
        for topic, partition in sorted(faults.keys() - self._told):
            fault = faults[topic, partition]
            log.warning("leaving out %s-%d until Kafka answers for it: %s", topic, partition, fault)
        for topic, partition in sorted(self._told - faults.keys()):
            log.info("Kafka answers for %s-%d again", topic, partition)
        self._told = set(faults)
