"""The offsets topic: the offsets of all source connectors, under their original key bytes."""

from __future__ import annotations

import json
import threading
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.json_forms import load_object
from penstock.kafka.newest import Newest
from penstock.kafka.offset_keys import in_order, offset_key
from penstock.sdk.offsets import SourcePartition, canonical

Keyed = tuple[bytes, dict[str, Any], dict[str, Any]]
"""Original key bytes, source partition, source offset."""


class OffsetStore:
    """Follows the offsets topic, which tasks write in their transactions. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        admin: AdminClient,
        topic: str,
        partitions: int,
        replication: int = -1,
    ) -> None:
        self._lock = threading.Lock()
        self._offsets: dict[str, dict[str, Keyed]] = {}
        self._newest = Newest()
        self.log = CompactedLog(
            connection, admin, topic, self._take, partitions=partitions, replication=replication
        )

    def of(self, connector: str) -> list[Keyed]:
        """Every known position of ``connector``."""
        with self._lock:
            return list(self._offsets.get(connector, {}).values())

    def key(self, connector: str, partition: SourcePartition, order: tuple[str, ...]) -> bytes:
        """The key bytes of a partition: the existing ones, or in the connector's key order."""
        with self._lock:
            known = self._offsets.get(connector, {}).get(canonical(partition))
        if known:
            return known[0]
        return offset_key(connector, in_order(partition, order))

    def _take(self, record: LogRecord) -> None:
        parsed = _parse_key(record.key)
        if parsed is None or record.key is None:
            return
        connector, partition = parsed
        place = canonical(partition)
        offset = None if record.value is None else load_object(record.value)
        if not self._newest.counts((connector, place), record):
            return
        with self._lock:
            known = self._offsets.setdefault(connector, {})
            if offset is None:
                known.pop(place, None)
            else:
                known[place] = (record.key, partition, offset)


def _parse_key(key: bytes | None) -> tuple[str, dict[str, Any]] | None:
    try:
        parts = json.loads(key or b"")
    except ValueError:
        return None
    if isinstance(parts, list) and len(parts) == 2:
        connector, partition = parts
        if isinstance(connector, str) and isinstance(partition, dict):
            return connector, partition
    return None
