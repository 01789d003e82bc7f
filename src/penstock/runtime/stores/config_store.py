"""The config topic: connectors, their tasks and target states, in Kafka Connect's records.

Only the leader writes (``leader_writes``). Every write returns once this store has read it back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.errors import KafkaFault
from penstock.kafka.json_forms import dump, load_object
from penstock.kafka.plain_writes import send_one
from penstock.runtime.errors import InternalError
from penstock.runtime.states import Target
from penstock.runtime.stores.leader_writes import LeaderWrites
from penstock.runtime.stores.leader_writes import Record as Elsewhere
from penstock.runtime.stores.session_keys import SessionKeys

CONNECTOR = "connector-"
TARGET = "target-state-"
TASK = "task-"
COMMIT = "commit-"
FENCING = "tasks-fencing-"
SESSION_KEY = "session-key"

Body = dict[str, Any]
LOGGER = "logger-cluster-"

Entry = tuple[str, object | None]


@dataclass
class ConnectorEntry:
    """Everything in the topic about one connector."""

    config: dict[str, str] | None = None
    target: Target = Target.STARTED
    pending: dict[int, dict[str, str]] = field(default_factory=dict)
    tasks: list[dict[str, str]] = field(default_factory=list)
    fenced_tasks: int = 0


@dataclass(frozen=True)
class Listener:
    """What is called with news of the config topic."""

    changed: Callable[[str], object] = lambda _name: None
    """With the name of a connector when the topic has something new about it."""
    unable: Callable[[], object] = lambda: None
    """When a write has failed, so that no other is accepted before ``lead``. That is not called
    here: a worker that is no longer the leader would fence the one that is."""
    logger_level: Callable[[str, str], object] = lambda _name, _level: None
    """With changes of log levels."""


class ConfigStore:
    """Follows and writes the config topic. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        admin: AdminClient,
        topic: str,
        group_id: str,
        replication: int = -1,
    ) -> None:
        self._connection = connection
        self._entries: dict[str, ConnectorEntry] = {}
        self._lock = threading.RLock()
        self.session_keys = SessionKeys()
        self._listener = Listener()
        self.log = CompactedLog(
            connection, admin, topic, self._take, replication=replication, single=True
        )
        self._writes = LeaderWrites(connection, group_id, self.log, self._unable)

    def listen(self, listener: Listener) -> None:
        """Tell ``listener`` what is new from now on."""
        self._listener = listener

    def names(self) -> list[str]:
        """All connectors."""
        with self._lock:
            return [name for name, entry in self._entries.items() if entry.config is not None]

    def with_key(self, key: str) -> list[str]:
        """The connectors whose configuration has a key."""
        with self._lock:
            return [name for name, entry in self._entries.items() if key in (entry.config or ())]

    def config(self, name: str) -> dict[str, str] | None:
        """A connector's configuration as it was sent, or None if there is no such connector."""
        with self._lock:
            entry = self._entries.get(name)
            return dict(entry.config) if entry and entry.config is not None else None

    def target(self, name: str) -> Target:
        """The connector's target state."""
        with self._lock:
            return self._entries[name].target

    def tasks(self, name: str) -> list[dict[str, str]]:
        """Task configurations in force."""
        with self._lock:
            entry = self._entries.get(name)
            return [dict(task) for task in entry.tasks] if entry and entry.config else []

    def fenced_tasks(self, name: str) -> int:
        """How many task ids may still have a producer somewhere."""
        with self._lock:
            entry = self._entries.get(name)
            return entry.fenced_tasks if entry else 0

    def lead(self) -> None:
        """Become the only writer: fence the previous one."""
        self._writes.lead()

    def resign(self) -> None:
        """Another worker leads, or this one ends: accept no more writes."""
        self._writes.resign()

    def leads(self) -> bool:
        """Whether writes would be accepted."""
        return self._writes.leads()

    def put_connector(
        self,
        name: str,
        config: Mapping[str, str],
        target: Target | None = None,
        also: Iterable[Elsewhere] = (),
    ) -> None:
        """Store a configuration, after its initial target state if there is one."""
        entries: list[Entry] = [] if target is None else [_target_entry(name, target)]
        self._change([*entries, (CONNECTOR + name, {"properties": dict(config)})], also)

    def put_elsewhere(self, records: Iterable[Elsewhere]) -> None:
        """Write to another topic what only the leader may write."""
        self._write([], records)

    def put_session_key(self, body: Mapping[str, Any], also: Iterable[Elsewhere] = ()) -> None:
        """Store the session key with which workers sign."""
        self._write([(SESSION_KEY, body)], also)

    def put_target(self, name: str, target: Target) -> None:
        """Store the target state."""
        self._change([_target_entry(name, target)])

    def put_tasks(self, name: str, tasks: list[dict[str, str]]) -> None:
        """Store task configurations, and how many producers they will have."""
        entries: list[Entry] = [
            (f"{TASK}{name}-{i}", {"properties": task}) for i, task in enumerate(tasks)
        ]
        # Ids of removed tasks may still have a producer somewhere: the count never decreases.
        count = max(len(tasks), self.fenced_tasks(name))
        fencing: Entry = (FENCING + name, {"task-count": count})
        self._write([*entries, (COMMIT + name, {"tasks": len(tasks)}), fencing])

    def stop(self, name: str) -> None:
        """Zero tasks, then STOPPED, in one transaction."""
        self._change([(COMMIT + name, {"tasks": 0}), _target_entry(name, Target.STOPPED)])

    def delete(self, name: str, also: Iterable[Elsewhere] = ()) -> None:
        """Delete a connector; all readers ignore the remaining records of its tasks."""
        self._change([(CONNECTOR + name, None), (TARGET + name, None)], also)

    def put_logger_level(self, name: str, level: str) -> None:
        """Send a log level to every worker. Any worker may write it: the order does not matter."""
        try:
            send_one(self._connection, self.log.topic, LOGGER + name, dump({"level": level}))
        except KafkaFault as error:
            raise InternalError(f"Kafka did not accept the change: {error}") from error
        self.log.read_to_end()

    def _unable(self) -> None:
        self._listener.unable()

    def _change(self, entries: Iterable[Entry], also: Iterable[Elsewhere] = ()) -> None:
        """What a user waits for."""
        self._writes.change([*self._records(entries), *also])

    def _write(self, entries: Iterable[Entry], also: Iterable[Elsewhere] = ()) -> None:
        """Write without a second try: the caller repeats it if need be."""
        self._writes.write([*self._records(entries), *also])

    def _records(self, entries: Iterable[Entry]) -> list[Elsewhere]:
        return [
            (self.log.topic, key.encode(), None if value is None else dump(value))
            for key, value in entries
        ]

    def read_back(self, log: CompactedLog) -> None:
        """Return once ``log`` has read what was last written to it here."""
        self._writes.read_back(log)

    def _take(self, record: LogRecord) -> None:
        self._writes.took(record)
        key = (record.key or b"").decode()
        body = None if record.value is None else load_object(record.value)
        if key == SESSION_KEY:
            self.session_keys.take(body)
        elif key.startswith(LOGGER):
            self._take_logger(key.removeprefix(LOGGER), body)
        elif (name := self._apply(key, body)) is not None:
            self._listener.changed(name)

    def _apply(self, key: str, body: Body | None) -> str | None:
        """The connector that the record is about; None for an unknown kind of record."""
        with self._lock:
            for prefix, apply in _READERS:
                if key.startswith(prefix):
                    name = key.removeprefix(prefix)
                    apply(self, name, body)
                    return name.rpartition("-")[0] if prefix == TASK else name
        return None

    def _entry(self, name: str) -> ConnectorEntry:
        return self._entries.setdefault(name, ConnectorEntry())

    def _take_connector(self, name: str, body: Body | None) -> None:
        if body is None:
            # Its old tasks must not come back with a connector of the same name.
            fenced = self._entry(name).fenced_tasks
            self._entries[name] = ConnectorEntry(fenced_tasks=fenced)
        else:
            self._entry(name).config = _texts(body["properties"])

    def _take_target(self, name: str, body: Body | None) -> None:
        state = (body or {}).get("state.v2") or (body or {}).get("state") or "STARTED"
        self._entry(name).target = Target(state)

    def _take_task(self, rest: str, body: Body | None) -> None:
        name, _, number = rest.rpartition("-")
        if body is not None:
            self._entry(name).pending[int(number)] = _texts(body["properties"])

    def _take_commit(self, name: str, body: Body | None) -> None:
        entry = self._entry(name)
        count = int((body or {}).get("tasks", 0))
        complete = all(i in entry.pending for i in range(count))
        # Compaction may have removed task records: then the connector creates them again.
        # Those of a deleted connector, whose tombstone may also be gone, are ignored.
        live = entry.config is not None
        entry.tasks = [entry.pending[i] for i in range(count)] if complete and live else []
        entry.fenced_tasks = max(entry.fenced_tasks, count)

    def _take_fencing(self, name: str, body: Body | None) -> None:
        self._entry(name).fenced_tasks = int((body or {}).get("task-count", 0))

    def _take_logger(self, name: str, body: Body | None) -> None:
        if body is not None:
            self._listener.logger_level(name, str(body["level"]))


_READERS = (
    (CONNECTOR, ConfigStore._take_connector),
    (TARGET, ConfigStore._take_target),
    (FENCING, ConfigStore._take_fencing),
    (TASK, ConfigStore._take_task),
    (COMMIT, ConfigStore._take_commit),
)


def _target_entry(name: str, target: Target) -> Entry:
    # Workers before Kafka 3.5 do not have STOPPED and read PAUSED instead.
    old = Target.PAUSED if target is Target.STOPPED else target
    return TARGET + name, {"state": old.value, "state.v2": target.value}


def _texts(properties: Mapping[str, object]) -> dict[str, str]:
    """Strings only: Kafka Connect also stores keys that were sent as null, which means unset."""
    return {k: v if isinstance(v, str) else str(v) for k, v in properties.items() if v is not None}
