"""The topics that a worker lives by, put together from its configuration and opened together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.names import worker_topic
from penstock.runtime.config_store import ConfigStore
from penstock.runtime.foreign_lead import ForeignLead
from penstock.runtime.offset_store import OffsetStore
from penstock.runtime.position_copies import PositionCopies
from penstock.runtime.roster import Roster
from penstock.runtime.status_store import StatusStore
from penstock.runtime.worker_config import WorkerConfig

HELD_UP_SECONDS = 2.0
"""A topic that leases write to and that is not read to its end in this time has an open transaction
of a lease that was killed, which holds readers up for a minute, or until its id is fenced."""


@dataclass(frozen=True)
class Stores:
    """``copies`` and ``roster`` share a topic: that of the workers."""

    configs: ConfigStore
    offsets: OffsetStore
    statuses: StatusStore
    copies: PositionCopies
    roster: Roster

    @staticmethod
    def of(config: WorkerConfig, connection: Connection, admin: AdminClient) -> Stores:
        """Those of the worker's cluster, not yet open."""
        topic, replication = config["config.storage.topic"], config.replication("config")
        roster, workers = Roster(), worker_topic(config.group_id)
        configs = ConfigStore(connection, admin, topic, config.group_id, replication)
        copies = PositionCopies(connection, admin, workers, replication, roster.take)
        copies.outdated = ForeignLead(configs, copies, roster).confirmed
        return Stores(
            configs,
            OffsetStore(connection, admin, *_topic(config, "offset")),
            StatusStore(connection, admin, *_topic(config, "status")),
            copies,
            roster,
        )

    def open(self, undo: list[Callable[[], None]]) -> None:
        """Follow all of them; ``undo`` learns the way back.

        Configs and statuses are then read to their end. Whoever needs that of the others fences
        first, and then reads to it.
        """
        for begin, end in (
            (self.configs.log.start, self.configs.log.stop),
            (self.offsets.log.start, self.offsets.log.stop),
            (self.statuses.start, self.statuses.stop),
            (self.copies.log.start, self.copies.log.stop),
        ):
            begin()
            undo.append(end)
        undo.append(self._begin_to_stop)  # the first to be called: the others then wait at once
        for store in (self.configs, self.statuses):
            store.log.read_to_end()
        for held_up in (self.offsets, self.copies):
            with contextlib.suppress(BrokerUnavailable):
                held_up.log.read_to_end(HELD_UP_SECONDS)

    def _begin_to_stop(self) -> None:
        """Each follower may take half a second to notice that it is to end."""
        for store in (self.configs, self.offsets, self.statuses, self.copies):
            store.log.begin_to_stop()


def _topic(config: WorkerConfig, kind: str) -> tuple[str, int, int]:
    """Name, partitions and replication of a topic."""
    name, partitions = config[f"{kind}.storage.topic"], config[f"{kind}.storage.partitions"]
    return name, partitions, config.replication(kind)
