"""The workers' topic: the copy of sink positions, from which expired group offsets are restored."""

from __future__ import annotations

import threading

from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.groups import Committed
from penstock.kafka.sink_copies import parse_copy
from penstock.kafka.topics import Position


class PositionCopies:
    """Follows the copies; sink leases write them, within their transactions. Thread-safe."""

    def __init__(
        self, connection: Connection, admin: AdminClient, topic: str, replication: int = -1
    ) -> None:
        self._lock = threading.Lock()
        self._copies: dict[str, dict[Position, Committed]] = {}
        self.log = CompactedLog(
            connection, admin, topic, self._take, replication=replication, single=True
        )

    def of(self, connector: str) -> dict[Position, Committed]:
        """The last committed positions of a sink connector."""
        with self._lock:
            return dict(self._copies.get(connector, {}))

    def _take(self, record: LogRecord) -> None:
        parsed = parse_copy(record.key or b"", record.value)
        if parsed is None:
            return
        connector, position, committed = parsed
        with self._lock:
            known = self._copies.setdefault(connector, {})
            if committed is None:
                known.pop(position, None)
            else:
                known[position] = committed
