"""The copy of sink positions in the workers' topic; expired group offsets are restored from it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.groups import Committed
from penstock.kafka.sink_copies import SinkGroup, copy_key, parse_copy
from penstock.kafka.topics import Position


class PositionCopies:
    """Follows the copies; sink leases write them, within their transactions. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        admin: AdminClient,
        topic: str,
        replication: int = -1,
        others: Callable[[LogRecord], None] = lambda _: None,
    ) -> None:
        """``others`` gets the records of the topic that are no copies."""
        self._lock = threading.Lock()
        self._others = others
        self._copies: dict[SinkGroup, dict[Position, Committed]] = {}
        self._topic_ids: dict[tuple[SinkGroup, Position], str | None] = {}
        self.outdated: Callable[[], bool] = lambda: False
        """Whether they are of before somebody else led the cluster; reads topics to their ends."""
        self.log = CompactedLog(
            connection, admin, topic, self._take, replication=replication, single=True
        )

    def of(self, sink: SinkGroup) -> dict[Position, Committed]:
        """The last positions that a sink connector has committed in a group."""
        with self._lock:
            return dict(self._copies.get(sink, {}))

    def topic_id(self, sink: SinkGroup, position: Position) -> str | None:
        """The id of the topic that the position is of, if the copy says so."""
        with self._lock:
            return self._topic_ids.get((sink, position))

    def every_key(self) -> list[bytes]:
        """The keys of all copies."""
        with self._lock:
            every = [(sink, position) for sink, known in self._copies.items() for position in known]
        return [copy_key(sink, *position) for sink, position in every]

    def _take(self, record: LogRecord) -> None:
        parsed = parse_copy(record.key or b"", record.value)
        if parsed is None:
            self._others(record)
            return
        sink, position, committed, topic_id = parsed
        with self._lock:
            known = self._copies.setdefault(sink, {})
            if committed is None:
                known.pop(position, None)
                self._topic_ids.pop((sink, position), None)
            else:
                known[position] = committed
                self._topic_ids[sink, position] = topic_id
