"""Assigns connectors to workers: the leader's records in the workers' topic."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable

from penstock.kafka import groups
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.compacted_log import CompactedLog
from penstock.kafka.errors import KafkaFault
from penstock.kafka.membership import Joined
from penstock.kafka.plain_writes import send_one
from penstock.runtime.cluster.balance import balanced
from penstock.runtime.stores.config_store import ConfigStore
from penstock.runtime.stores.leader_writes import Record as Elsewhere
from penstock.runtime.stores.roster import (
    Address,
    Record,
    Roster,
    assignment_records,
    leader_record,
    session_key_record,
    worker_record,
)
from penstock.runtime.stores.session_keys import SessionKeys, digest_of

log = logging.getLogger(__name__)

ADVERTISE_SECONDS = 10.0
STRANGER_SECONDS = 3.0
"""How long the leader waits for a new member to advertise its address."""


class Assigner:
    """Reads the roster, and writes what this worker is allowed to. Thread-safe."""

    def __init__(
        self,
        *,
        worker_id: str,
        url: str,
        group_id: str,
        admin: GroupAdmin,
        connection: Connection,
        configs: ConfigStore,
        roster: Roster,
        topic: CompactedLog,
    ) -> None:
        self._worker_id = worker_id
        self._url = url
        self._group_id = group_id
        self._admin = admin
        self._connection = connection
        self._configs = configs
        self._roster = roster
        self._topic = topic
        self._workers = {worker_id}

    @property
    def alone(self) -> bool:
        """Whether this worker, if it is the leader, has assigned connectors to no other."""
        return self._workers == {self._worker_id}

    def owner(self, name: str) -> str | None:
        """The worker that a connector is assigned to."""
        return self._roster.owner(name)

    def read_to_end(self, timeout: float = 75.0) -> None:
        """Read everything that has been written."""
        self._topic.read_to_end(timeout)

    def read_back(self) -> None:
        """Read what this worker, as the leader, wrote last."""
        self._configs.read_back(self._topic)

    def advertise(self, joined: Joined) -> None:
        """Advertise this worker's address; KafkaFault unless the brokers have stored it.

        A worker whose address is unknown is given no connectors, and would wait for some for ever.
        """
        address = Address(self._url, joined.member_id)
        before = self._roster.workers().get(self._worker_id)
        if before != address:
            self._warn_of_namesake(before, address)
            self._write(worker_record(self._worker_id, address))

    def _warn_of_namesake(self, before: Address | None, now: Address) -> None:
        """Only a warning: it may be this worker itself, if its last session has not expired."""
        if before is None or before.member_id == now.member_id:
            return
        if before.member_id in groups.members(self._admin, self._group_id):
            log.warning(
                "another member of the group is also known as %s. If this worker was not just "
                "restarted, give each its own rest.advertised.host.name or rest.advertised.port",
                self._worker_id,
            )

    def refuse_unless_member(self, joined: Joined) -> None:
        """KafkaFault if the group no longer has this member."""
        if joined.member_id not in groups.members(self._admin, self._group_id):
            raise KafkaFault("this worker is not a member of its group at the moment")

    def lead(self, also: Iterable[Elsewhere] = ()) -> None:
        """Record that this worker is the leader, and give all workers a new session key."""
        self.renew_session_key([*self._elsewhere([leader_record(self._worker_id)]), *also])

    def renew_session_key(self, also: Iterable[Elsewhere] = ()) -> None:
        """Give the workers a new session key, and record that it is ours."""
        body = SessionKeys.fresh()
        ours = self._elsewhere([session_key_record(digest_of(body))])
        self._configs.put_session_key(body, [*ours, *also])

    def rebalance(self) -> None:
        """Assign every connector to a live worker, evenly.

        The topic must have been read to its end.
        """
        self._workers = workers = self._alive()
        names, now = self._configs.names(), self._roster.assignments()
        wanted = balanced(names, workers, now)
        changes: list[tuple[str, str | None]] = [
            *((name, worker) for name, worker in wanted.items() if now.get(name) != worker),
            *((name, None) for name in now if name not in wanted),
        ]
        if changes:
            self._configs.put_elsewhere(self._elsewhere(assignment_records(changes)))
            self.read_to_end()
        log.info("%d workers share %d connectors; %d moved", len(workers), len(names), len(changes))

    def assignment(self, name: str) -> list[Elsewhere]:
        """Records that assign a new connector to the worker with the fewest."""
        load = Counter(self._roster.assignments().values())
        worker = min(sorted(self._workers), key=lambda worker: load[worker])
        return self._elsewhere(assignment_records([(name, worker)]))

    def no_assignment(self, name: str) -> list[Elsewhere]:
        """Records that remove a connector's assignment."""
        return self._elsewhere(assignment_records([(name, None)]))

    def _alive(self) -> set[str]:
        """The workers that are members of the group, once all have advertised their addresses."""
        deadline = time.monotonic() + STRANGER_SECONDS
        while True:
            members = groups.members(self._admin, self._group_id)
            known = {a.member_id: worker for worker, a in self._roster.workers().items()}
            if members <= known.keys() or time.monotonic() > deadline:
                return {self._worker_id, *(known[m] for m in members if m in known)}
            time.sleep(0.1)

    def _elsewhere(self, records: Iterable[Record]) -> list[Elsewhere]:
        return [(self._topic.topic, key, value) for key, value in records]

    def _write(self, record: Record) -> None:
        key, value = record
        send_one(self._connection, self._topic.topic, key, value, seconds=ADVERTISE_SECONDS)
