"""Which of several records of a key is the newest, if they are on more than one partition.

Producers put a key on one partition, so its last record read is the last one written. But a topic
may have been given more partitions, or been written with another partitioner: then older records of
a key remain on another partition, where compaction never removes them, and readers get them in any
order.
"""

from __future__ import annotations

from collections.abc import Hashable

from penstock.kafka.compacted_log import LogRecord


class Newest:
    """Remembers where the newest record of each key is. Used by one follower's thread.

    Within a partition the later record wins, whatever its timestamp; of records on different
    partitions, the one with the later timestamp. Tombstones count too: what they deleted must not
    come back from another partition.
    """

    def __init__(self) -> None:
        self._places: dict[Hashable, tuple[int, int]] = {}

    def counts(self, key: Hashable, record: LogRecord) -> bool:
        """Whether ``record``, the next one of its partition, is the newest of ``key`` so far."""
        place = self._places.get(key)
        if place is not None and place[1] != record.partition:
            if (record.timestamp, record.partition) < place:
                return False
            place = None
        # Later records of a partition were not written earlier, whatever their timestamps say.
        stamp = record.timestamp if place is None else max(record.timestamp, place[0])
        self._places[key] = stamp, record.partition
        return True
