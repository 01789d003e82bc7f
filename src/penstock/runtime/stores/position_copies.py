"""The copies of sink positions, from which expired group offsets are restored.

Copies have a separate topic, with all those of a connector in one partition. A lease that freezes
during its commit blocks everyone who reads past its open transaction: here that is only a sink with
the same partition, and only if it needs its copies. Copies written by earlier versions are in the
workers' topic, and are used if there is none in this one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from zlib import crc32

from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.groups import Committed
from penstock.kafka.sink_copies import Copy, SinkGroup, copy_key, copy_value, parse_copy
from penstock.kafka.topics import PartitionId

PARTITIONS = 10
PATIENCE = 2.0
"""How long to wait for another sink's open transaction: normally it takes a moment."""

Record = tuple[str, bytes, bytes | None, int]
"""Topic, key, value and partition."""
_Known = dict[SinkGroup, dict[PartitionId, Copy]]


class PositionCopies:
    """Follows the copies, which sink leases write in their transactions. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        admin: AdminClient,
        topic: str,
        replication: int = -1,
        former_topic: str = "",
    ) -> None:
        """``former_topic`` is the workers' topic, which once had them; it has one partition."""
        self._lock = threading.Lock()
        self._former_topic = former_topic
        self._copies: _Known = {}
        self._former: _Known = {}
        self.outdated: Callable[[], bool] = lambda: False
        """Whether Kafka Connect has led since they were written; reads topics to their ends."""
        self.log = CompactedLog(
            connection,
            admin,
            topic,
            self._take,
            partitions=PARTITIONS,
            replication=replication,
        )

    def of(self, sink: SinkGroup) -> dict[PartitionId, Committed]:
        """The last positions that a sink connector has committed in a group."""
        return {p: copy.committed for p, copy in self._of(sink).items() if copy.committed}

    def topic_id(self, sink: SinkGroup, position: PartitionId) -> str | None:
        """The id of the position's topic, if the copy has it."""
        copy = self._of(sink).get(position)
        return None if copy is None else copy.topic_id

    def _of(self, sink: SinkGroup) -> dict[PartitionId, Copy]:
        with self._lock:
            return {**self._former.get(sink, {}), **self._copies.get(sink, {})}

    def partition(self, connector: str) -> int:
        """The partition with the copies of a connector."""
        # The same after partitions were added to the topic.
        return crc32(connector.encode()) % min(PARTITIONS, self.log.partitions)

    def catch_up(self, sink: SinkGroup, seconds: float = PATIENCE) -> bool:
        """Whether everything a sink had committed before this call is now known.

        False if another sink's transaction stays open for longer than these seconds.
        """
        try:
            self.log.read_to_end(seconds, [self.partition(sink.connector)])
        except BrokerUnavailable:
            return False
        return True

    def setting(
        self, sink: SinkGroup, position: PartitionId, committed: Committed, topic_id: str | None
    ) -> list[Record]:
        """Records with a sink's positions."""
        value = copy_value(*committed, topic_id)
        return [self._record(sink, position, value)]

    def forgetting(self, sink: SinkGroup, position: PartitionId) -> list[Record]:
        """Tombstones for a position's copy, wherever it is, so that it is not restored."""
        records = [self._record(sink, position, None)]
        if position in self._former.get(sink, {}):
            records.append((self._former_topic, copy_key(sink, *position), None, 0))
        return records

    def forgetting_all(self) -> list[list[Record]]:
        """The same for every copy."""
        with self._lock:
            sinks = {*self._copies, *self._former}
        return [self.forgetting(sink, position) for sink in sinks for position in self._of(sink)]

    def _record(self, sink: SinkGroup, position: PartitionId, value: bytes | None) -> Record:
        key = copy_key(sink, *position)
        return self.log.topic, key, value, self.partition(sink.connector)

    def _take(self, record: LogRecord) -> None:
        parsed = parse_copy(record.key or b"", record.value)
        # Elsewhere they are from before partitions were added, and would come in any order.
        if parsed is not None and record.partition == self.partition(parsed.sink.connector):
            self._note(self._copies, parsed)

    def take_former(self, record: LogRecord) -> bool:
        """Process a record of the workers' topic; returns whether it was a copy."""
        parsed = parse_copy(record.key or b"", record.value)
        if parsed is not None:
            self._note(self._former, parsed)
        return parsed is not None

    def _note(self, known: _Known, copy: Copy) -> None:
        with self._lock:
            of_sink = known.setdefault(copy.sink, {})
            if copy.committed is None:
                of_sink.pop(copy.partition, None)
            else:
                of_sink[copy.partition] = copy
