"""The workers' topic: the members of the cluster, its leader, and which worker runs what.

Every worker writes its address when it joins. Only the leader writes which worker is the leader
and which runs which connector, in transactions of its own id: a previous leader is fenced.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.kafka.compacted_log import LogRecord
from penstock.kafka.json_forms import dump, load_object

WORKER, LEADER, ASSIGNMENT = "worker", "leader", "assignment"
SESSION_KEY = "session-key"

Record = tuple[bytes, bytes | None]
"""Key and value; None tombstones."""


@dataclass(frozen=True)
class Address:
    """A worker's address, and its member id in the group."""

    url: str
    member_id: str


class Roster:
    """Follows the workers' topic. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: dict[str, Address] = {}
        self._assignments: dict[str, str] = {}
        self._leader: str | None = None
        self._session_key: str | None = None
        self._on_worker: Callable[[], object] = lambda: None
        self._on_assignment: Callable[[str], object] = lambda _name: None

    def listen(
        self, *, on_worker: Callable[[], object], on_assignment: Callable[[str], object]
    ) -> None:
        """From now on tell when a worker has advertised its address, and of each connector that
        was assigned."""
        self._on_worker, self._on_assignment = on_worker, on_assignment

    def workers(self) -> dict[str, Address]:
        """All workers that have ever joined, dead or alive."""
        with self._lock:
            return dict(self._workers)

    def url(self, worker: str) -> str | None:
        """A worker's address."""
        with self._lock:
            address = self._workers.get(worker)
            return address.url if address else None

    def leader(self) -> str | None:
        """The leader, as far as this worker knows."""
        with self._lock:
            return self._leader

    def session_key(self) -> str | None:
        """The digest of the last key that a leader of ours wrote; None if there is none."""
        with self._lock:
            return self._session_key

    def owner(self, connector: str) -> str | None:
        """The worker that a connector is assigned to."""
        with self._lock:
            return self._assignments.get(connector)

    def assignments(self) -> dict[str, str]:
        """The worker of each connector."""
        with self._lock:
            return dict(self._assignments)

    def take(self, record: LogRecord) -> None:
        """Process the next record of the topic; other kinds of records are skipped."""
        kind, name = _kind(record.key or b"")
        body = {} if record.value is None else load_object(record.value)
        if kind == WORKER:
            self._take_worker(name, body)
            self._on_worker()
        elif kind == LEADER:
            with self._lock:
                self._leader = body.get("worker")
        elif kind == SESSION_KEY:
            with self._lock:
                self._session_key = body.get("sha256")
        elif kind == ASSIGNMENT:
            self._take_assignment(name, body.get("worker"))
            self._on_assignment(name)

    def _take_worker(self, name: str, body: Mapping[str, Any]) -> None:
        with self._lock:
            if body:
                self._workers[name] = Address(str(body["url"]), str(body["member"]))
            else:
                self._workers.pop(name, None)

    def _take_assignment(self, name: str, worker: str | None) -> None:
        with self._lock:
            if worker is None:
                self._assignments.pop(name, None)
            else:
                self._assignments[name] = worker


def worker_record(worker: str, address: Address) -> Record:
    """The record of a worker's address."""
    return dump([WORKER, worker]), dump({"url": address.url, "member": address.member_id})


def leader_record(worker: str) -> Record:
    """The record that this worker is the leader."""
    return dump([LEADER, ""]), dump({"worker": worker})


def session_key_record(digest: str) -> Record:
    """The record that the session key with this digest is one of ours."""
    return dump([SESSION_KEY, ""]), dump({"sha256": digest})


def assignment_records(assignments: Iterable[tuple[str, str | None]]) -> list[Record]:
    """The record of a connector's worker; None: no worker."""
    return [
        (dump([ASSIGNMENT, name]), None if worker is None else dump({"worker": worker}))
        for name, worker in assignments
    ]


def _kind(key: bytes) -> tuple[str, str]:
    try:
        kind, name = json.loads(key)
    except ValueError:
        return "", ""
    return str(kind), str(name)
