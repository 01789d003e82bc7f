"""The topics that a worker lives by, put together from its configuration and opened together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.names import worker_topic
from penstock.runtime.config_store import ConfigStore
from penstock.runtime.foreign_lead import ForeignLead
from penstock.runtime.offset_store import OffsetStore
from penstock.runtime.position_copies import PositionCopies
from penstock.runtime.roster import Roster
from penstock.runtime.status_store import StatusStore
from penstock.runtime.worker_config import WorkerConfig


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
        """Follow all of them, read to their end; ``undo`` learns the way back."""
        for begin, end in (
            (self.configs.log.start, self.configs.log.stop),
            (self.offsets.log.start, self.offsets.log.stop),
            (self.statuses.start, self.statuses.stop),
            (self.copies.log.start, self.copies.log.stop),
        ):
            begin()
            undo.append(end)
        for store in (self.configs, self.offsets, self.statuses, self.copies):
            store.log.read_to_end()


def _topic(config: WorkerConfig, kind: str) -> tuple[str, int, int]:
    """Name, partitions and replication of a topic."""
    name, partitions = config[f"{kind}.storage.topic"], config[f"{kind}.storage.partitions"]
    return name, partitions, config.replication(kind)
