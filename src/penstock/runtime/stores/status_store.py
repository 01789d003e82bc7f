"""The status topic: states of connectors and tasks, and the topics they have used."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from penstock.engine.lease.lease import Range
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.json_forms import dump, load_object
from penstock.kafka.newest import Newest
from penstock.runtime.states import State, Status

log = logging.getLogger(__name__)

CONNECTOR = "status-connector-"
TASK = "status-task-"
TOPIC = "status-topic-"
REMARKABLE = frozenset({State.RUNNING, State.UNASSIGNED, State.RESTARTING})
"""States in which records should move, so a remark may say why they do not."""


OnTask = Callable[[str, int, Status | None], None]


class StatusStore:
    """Follows and writes the status topic. Thread-safe.

    Reads answer from memory, including what was just written here: a status may lag, but never
    behind its own writer.
    """

    def __init__(
        self,
        connection: Connection,
        admin: AdminClient,
        topic: str,
        partitions: int,
        replication: int = -1,
    ) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._statuses: dict[str, Status] = {}
        self._task_ids: dict[str, set[int]] = {}
        self._topics: dict[str, set[str]] = {}
        self._uncommitted: dict[str, dict[int, tuple[Range, ...]]] = {}
        self._unread: dict[bytes, int] = {}
        self._newest = Newest()
        self._producer: Producer | None = None
        self._owns: Callable[[str], bool] = lambda _name: False
        self._on_task: OnTask = lambda _name, _task, _status: None
        self.log = CompactedLog(
            connection,
            admin,
            topic,
            self._take,
            partitions=partitions,
            replication=replication,
            transactional=False,
        )

    def listen(
        self, *, owns: Callable[[str], bool] | None = None, on_task: OnTask | None = None
    ) -> None:
        """From now on ask whether a connector is assigned to this worker, as far as it knows; and
        tell every new status of a task, from any writer, which must not block."""
        self._owns, self._on_task = owns or self._owns, on_task or self._on_task

    def start(self) -> None:
        """Start following the topic."""
        self._producer = clients.producer(self._connection)
        self.log.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Write what is queued, within ``timeout`` seconds, and stop following."""
        if self._producer is not None:
            self._producer.flush(timeout)
        self.log.stop()

    def connector(self, name: str) -> Status | None:
        """The connector's status, if it has one."""
        with self._lock:
            return self._statuses.get(CONNECTOR + name)

    def task(self, name: str, task: int) -> Status | None:
        """The task's status, if it has one."""
        with self._lock:
            return self._statuses.get(f"{TASK}{name}-{task}")

    def task_ids(self, name: str) -> list[int]:
        """The tasks that have a status."""
        with self._lock:
            return sorted(self._task_ids.get(name, ()))

    def uncommitted(self, name: str) -> list[Range]:
        """What the tasks of a sink were given but had not committed when they last failed.

        As far as this worker has seen it.
        """
        with self._lock:
            found = self._uncommitted.get(name, {})
            return sorted({entry for entries in found.values() for entry in entries})

    def names(self) -> set[str]:
        """The connectors with a status, or with a task that has one."""
        with self._lock:
            connectors = {
                k.removeprefix(CONNECTOR) for k in self._statuses if k.startswith(CONNECTOR)
            }
            return connectors | {name for name, tasks in self._task_ids.items() if tasks}

    def topics(self, name: str) -> list[str]:
        """The topics the connector has used since the last reset."""
        with self._lock:
            return sorted(self._topics.get(name, ()))

    def put_connector(self, name: str, status: Status | None) -> None:
        """Set the connector's status; None forgets it."""
        self._put(name, CONNECTOR + name, status)

    def put_task(self, name: str, task: int, status: Status | None) -> None:
        """Set the task's status; None forgets it."""
        self._put(name, f"{TASK}{name}-{task}", status)

    def remark_connector(self, name: str, worker_id: str, text: str | None) -> None:
        """Add ``text`` to the connector's state, as ``remark_task`` does."""
        self._remark(CONNECTOR + name, worker_id, text)

    def remark_task(self, name: str, task: int, worker_id: str, text: str | None) -> None:
        """Add ``text`` as a remark to the task's state; None removes it.

        Only if the state is this worker's and can have one: a failure has its own trace, and a
        paused or stopped task has no problems.
        """
        self._remark(f"{TASK}{name}-{task}", worker_id, text)

    def add_topics(self, name: str, task: int, topics: Iterable[str]) -> None:
        """Record that the connector uses ``topics``."""
        for topic in topics:
            with self._lock:
                known = self._topics.setdefault(name, set())
                if topic in known:
                    continue
                known.add(topic)
            body = {
                "name": topic,
                "connector": name,
                "task": task,
                "discoverTimestamp": int(time.time() * 1000),
            }
            self._send(_topic_key(topic, name), dump({"topic": body}))

    def forget_topics(self, name: str) -> None:
        """Forget the topics the connector has used."""
        with self._lock:
            topics = self._topics.pop(name, set())
        for topic in topics:
            self._send(_topic_key(topic, name), None)

    def forget(self, name: str) -> None:
        """Forget everything about a connector."""
        for task in self.task_ids(name):
            self.put_task(name, task, None)
        self.put_connector(name, None)
        self.forget_topics(name)
        with self._lock:
            self._uncommitted.pop(name, None)

    def _put(self, name: str, key: str, status: Status | None) -> None:
        owns = self._owns(name)
        with self._lock:
            before = self._statuses.get(key)
            if before == status or (not owns and _is_late(status, before)):
                return
            self._set(key, status)
        self._send(key, None if status is None else dump(_body(status)))

    def _remark(self, key: str, worker_id: str, text: str | None) -> None:
        with self._lock:
            before = self._statuses.get(key)
            if before is None or before.worker_id != worker_id or before.state not in REMARKABLE:
                return
            status = replace(before, trace=text)
            if status == before:
                return
            self._statuses[key] = status
        self._send(key, dump(_body(status)))

    def _set(self, key: str, status: Status | None) -> None:
        """Under the lock. A connector's tasks are stored separately: they are requested often."""
        if status is None:
            self._statuses.pop(key, None)
        else:
            self._statuses[key] = status
        name, _, number = key.removeprefix(TASK).rpartition("-")
        if key.startswith(TASK) and number.isdigit():
            ids = self._task_ids.setdefault(name, set())
            ids.add(int(number)) if status is not None else ids.discard(int(number))
            self._keep_uncommitted(name, int(number), status)
            self._on_task(name, int(number), status)

    def _keep_uncommitted(self, name: str, task: int, status: Status | None) -> None:
        """A stopped connector has no tasks, but their uncommitted records still matter."""
        if status is not None and (status.uncommitted or status.state is State.RUNNING):
            self._uncommitted.setdefault(name, {})[task] = status.uncommitted

    def _send(self, key: str, value: bytes | None) -> None:
        if self._producer is None:
            return
        data = key.encode()
        with self._lock:
            self._unread[data] = self._unread.get(data, 0) + 1
        try:
            self._producer.produce(self.log.topic, value, data, on_delivery=self._delivered)
            self._producer.poll(0)
        except (BufferError, KafkaException) as error:
            self._is_echo(data)
            log.warning("status of %s was not written: %s", key, error)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._is_echo(message.key() or b"")
            log.warning("a status was not written: %s", error.str())

    def _take(self, record: LogRecord) -> None:
        if record.key is None:
            return
        newest = self._newest.counts(record.key, record)
        if self._is_echo(record.key) or not newest:
            return
        key = record.key.decode()
        with self._lock:
            if key.startswith(TOPIC):
                self._take_topic(key, record.value)
            else:
                body = record.value
                self._set(key, None if body is None else _status(load_object(body)))

    def _is_echo(self, key: bytes) -> bool:
        """Our own writes are in memory already; while some are pending, the log lags behind."""
        with self._lock:
            waiting = self._unread.get(key, 0)
            if waiting > 1:
                self._unread[key] = waiting - 1
            else:
                self._unread.pop(key, None)
            return waiting > 0

    def _take_topic(self, key: str, value: bytes | None) -> None:
        topic, _, name = key.removeprefix(TOPIC).partition(":connector-")
        topics = self._topics.setdefault(name, set())
        if value is None:
            topics.discard(topic)
        else:
            topics.add(topic)


def _is_late(status: Status | None, before: Status | None) -> bool:
    """Whether it reports the end of something that another worker runs, or ran later."""
    if status is None or before is None or status.state not in (State.FAILED, State.UNASSIGNED):
        return False
    return before.worker_id != status.worker_id and before.generation >= status.generation


def _topic_key(topic: str, connector: str) -> str:
    return f"{TOPIC}{topic}:connector-{connector}"


def _body(status: Status) -> dict[str, Any]:
    return {
        "state": status.state.value,
        "trace": status.trace,
        "worker_id": status.worker_id,
        "generation": status.generation,
        "version": status.version,
        **({"uncommitted": status.uncommitted} if status.uncommitted else {}),
    }


def _status(body: dict[str, Any]) -> Status:
    return Status(
        State(body["state"]),
        body["worker_id"],
        int(body.get("generation", 0)),
        body.get("trace"),
        body.get("version"),
        tuple((t, p, first, end) for t, p, first, end in body.get("uncommitted") or ()),
    )
