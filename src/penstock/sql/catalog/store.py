"""The catalog's topic. Connector statements never write to it."""

from __future__ import annotations

import json
import threading
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.plain_writes import send_one
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.catalog.source import Source, type_from_json, type_json
from penstock.sql.errors import StatementError, nearest
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import SqlType

SOURCES, TYPES, QUERIES = "source", "type", "query"


class Catalog:
    """Streams, tables, types and queries by name, as of the moment of asking. Thread-safe.

    Every method may raise a KafkaFault. ``close`` ends the thread that follows the topic.
    """

    def __init__(self, connection: Connection, topic: str) -> None:
        self._connection = connection
        self._admin: AdminClient = clients.admin(connection)
        self._lock = threading.Lock()
        self._entries: dict[tuple[str, str], Any] = {}
        self._log = CompactedLog(
            connection, self._admin, topic, self._take, transactional=False, single=True
        )
        self._log.start()

    def close(self) -> None:
        """End it."""
        self._log.stop()

    @property
    def admin(self) -> AdminClient:
        """A client of the same cluster."""
        return self._admin

    def sources(self, kind: SourceKind | None = None) -> dict[str, Source]:
        """All streams and tables, or those of a kind."""
        found = {name: Source.from_json(each) for name, each in self._all(SOURCES).items()}
        return {n: s for n, s in sorted(found.items()) if kind in (None, s.kind)}

    def find(self, name: str) -> Source | None:
        """The source of that name, else the only one that differs in case only."""
        found = self.sources()
        alike = [each for each in found if each.upper() == name.upper()]
        return found.get(name) or (found[alike[0]] if len(alike) == 1 else None)

    def source(self, name: str) -> Source:
        """The same; StatementError with the nearest name if there is none."""
        found = self.find(name)
        if found is None:
            hint = nearest(name, self.sources())
            raise StatementError(f"There is no stream or table {name}.{hint}")
        return found

    def put(self, source: Source) -> int:
        """Store a stream or table; returns when it is stored: the number of the change."""
        return self._write(SOURCES, source.name, source.to_json())

    def remove(self, name: str) -> int:
        """Forget a stream or table; its topic stays. The number of the change."""
        return self._write(SOURCES, name, None)

    def types(self) -> dict[str, SqlType]:
        """All types that were created."""
        return {name: type_from_json(each) for name, each in sorted(self._all(TYPES).items())}

    def put_type(self, name: str, kind: SqlType) -> int:
        """Store a type; the number of the change."""
        return self._write(TYPES, name, type_json(kind))

    def remove_type(self, name: str) -> int:
        """Forget a type; what was declared with it keeps its columns. The number of the change."""
        return self._write(TYPES, name, None)

    def queries(self) -> dict[str, PersistentQuery]:
        """All persistent queries by their ids."""
        found = sorted(self._all(QUERIES).items())
        return {id_: PersistentQuery.from_json(each) for id_, each in found}

    def put_query(self, query: PersistentQuery) -> int:
        """Store a query; the number of the change."""
        return self._write(QUERIES, query.id, query.to_json())

    def remove_query(self, id_: str) -> int:
        """Forget a query; its sink stays. The number of the change."""
        return self._write(QUERIES, id_, None)

    def _all(self, kind: str) -> dict[str, Any]:
        self._log.read_to_end()
        with self._lock:
            return {name: each for (of, name), each in self._entries.items() if of == kind}

    def changes(self) -> int:
        """How many changes there have been: each has the number of those before it."""
        ends = topics.ends(self._admin, [(self._log.topic, 0)], committed=True)
        return ends.get((self._log.topic, 0), 0)

    def _write(self, kind: str, name: str, value: Any) -> int:
        content = None if value is None else json.dumps(value).encode()
        return send_one(self._connection, self._log.topic, f"{kind}/{name}", content)

    def _take(self, record: LogRecord) -> None:
        kind, _, name = (record.key or b"").decode().partition("/")
        with self._lock:
            if record.value is None:
                self._entries.pop((kind, name), None)
            else:
                self._entries[kind, name] = json.loads(record.value)
