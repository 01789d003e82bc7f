"""The stores of a worker, created from its configuration and opened together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.names import sink_copies_topic, worker_topic
from penstock.runtime.config.worker_config import WorkerConfig
from penstock.runtime.stores.config_store import ConfigStore
from penstock.runtime.stores.foreign_lead import ForeignLead
from penstock.runtime.stores.offset_store import OffsetStore
from penstock.runtime.stores.position_copies import PositionCopies
from penstock.runtime.stores.roster import Roster
from penstock.runtime.stores.status_store import StatusStore

HELD_UP_SECONDS = 2.0
"""If a topic that leases write cannot be read to its end in this time, a lease was killed with an
open transaction, which blocks readers for a minute, or until its id is fenced."""


@dataclass(frozen=True)
class Stores:
    """``workers`` is the topic that the roster follows; it once had the copies too."""

    configs: ConfigStore
    offsets: OffsetStore
    statuses: StatusStore
    copies: PositionCopies
    roster: Roster
    workers: CompactedLog

    @staticmethod
    def of(config: WorkerConfig, connection: Connection, admin: AdminClient) -> Stores:
        """The stores of the worker's cluster, not yet open."""
        topic, replication = config["config.storage.topic"], config.replication("config")
        group, roster = config.group_id, Roster()
        configs = ConfigStore(connection, admin, topic, group, replication)
        copies = PositionCopies(
            connection, admin, sink_copies_topic(group), replication, worker_topic(group)
        )
        workers = workers_log(
            connection, admin, group, roster=roster, copies=copies, replication=replication
        )
        copies.outdated = ForeignLead(configs, copies, roster, workers).confirmed
        return Stores(
            configs,
            OffsetStore(connection, admin, *_topic(config, "offset")),
            StatusStore(connection, admin, *_topic(config, "status")),
            copies,
            roster,
            workers,
        )

    def open(self, undo: list[Callable[[], None]]) -> None:
        """Follow all of them; ``undo`` collects how to close them.

        Configs and statuses are read to their end. Callers that need the end of the others fence
        first, and then read.
        """
        for begin, end in (
            (self.configs.log.start, self.configs.log.stop),
            (self.offsets.log.start, self.offsets.log.stop),
            (self.statuses.start, self.statuses.stop),
            (self.copies.log.start, self.copies.log.stop),
            (self.workers.start, self.workers.stop),
        ):
            begin()
            undo.append(end)
        undo.append(self._begin_to_stop)  # called first, so that all end at the same time
        for store in (self.configs, self.statuses):
            store.log.read_to_end()
        for held_up in (self.offsets.log, self.copies.log, self.workers):
            with contextlib.suppress(BrokerUnavailable):
                held_up.read_to_end(HELD_UP_SECONDS)

    def _begin_to_stop(self) -> None:
        """Each follower may take half a second to notice that it should end."""
        for store in (self.configs, self.offsets, self.statuses, self.copies):
            store.log.begin_to_stop()
        self.workers.begin_to_stop()


def workers_log(
    connection: Connection,
    admin: AdminClient,
    group_id: str,
    *,
    roster: Roster,
    copies: PositionCopies,
    replication: int = -1,
) -> CompactedLog:
    """The topic of the workers: their addresses, assignments, and copies of earlier versions."""

    def take(record: LogRecord) -> None:
        if not copies.take_former(record):
            roster.take(record)

    topic = worker_topic(group_id)
    return CompactedLog(connection, admin, topic, take, replication=replication, single=True)


def _topic(config: WorkerConfig, kind: str) -> tuple[str, int, int]:
    """Name, partitions and replication of a topic."""
    name, partitions = config[f"{kind}.storage.topic"], config[f"{kind}.storage.partitions"]
    return name, partitions, config.replication(kind)
