"""The status topic: states of connectors and tasks, and the topics they have used."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.json_forms import dump, load_object
from penstock.runtime.states import State, Status

log = logging.getLogger(__name__)

CONNECTOR = "status-connector-"
TASK = "status-task-"
TOPIC = "status-topic-"


class StatusStore:
    """Follows and writes the status topic. Thread-safe.

    Reads answer from memory at once, including what was just written here: a status lags, but
    never behind its own writer.
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
        self._unread: dict[bytes, int] = {}
        self._producer: Producer | None = None
        self.owns: Callable[[str], bool] = lambda _: False
        """Whether a connector is this worker's, as far as it knows."""
        self.on_task: Callable[[str, int, Status | None], None] = lambda _name, _task, _status: None
        """Called with every new status of a task, whoever wrote it; must return at once."""
        self.log = CompactedLog(
            connection,
            admin,
            topic,
            self._take,
            partitions=partitions,
            replication=replication,
            transactional=False,
        )

    def start(self) -> None:
        """Begin to follow the topic."""
        self._producer = clients.producer(self._connection)
        self.log.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Write out what is queued, within ``timeout`` seconds, and stop following."""
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

    def names(self) -> set[str]:
        """The connectors that have a status, or a task of theirs has."""
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

    def add_topics(self, name: str, task: int, topics: Iterable[str]) -> None:
        """Note that the connector uses ``topics``."""
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

    def _put(self, name: str, key: str, status: Status | None) -> None:
        owns = self.owns(name)
        with self._lock:
            before = self._statuses.get(key)
            if before == status or (not owns and _is_late(status, before)):
                return
            self._set(key, status)
        self._send(key, None if status is None else dump(_body(status)))

    def _set(self, key: str, status: Status | None) -> None:
        """Under the lock. Which tasks a connector has is kept apart: it is asked for often."""
        if status is None:
            self._statuses.pop(key, None)
        else:
            self._statuses[key] = status
        name, _, number = key.removeprefix(TASK).rpartition("-")
        if key.startswith(TASK) and number.isdigit():
            ids = self._task_ids.setdefault(name, set())
            ids.add(int(number)) if status is not None else ids.discard(int(number))
            self.on_task(name, int(number), status)

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
        if record.key is None or self._is_echo(record.key):
            return
        key = record.key.decode()
        with self._lock:
            if key.startswith(TOPIC):
                self._take_topic(key, record.value)
            else:
                body = record.value
                self._set(key, None if body is None else _status(load_object(body)))

    def _is_echo(self, key: bytes) -> bool:
        """Our own writes are in memory already; while some are on their way, the log is behind."""
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
    """Whether it is the end of something that another worker runs already, or ran after it."""
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
    }


def _status(body: dict[str, Any]) -> Status:
    return Status(
        State(body["state"]),
        body["worker_id"],
        int(body.get("generation", 0)),
        body.get("trace"),
        body.get("version"),
    )
