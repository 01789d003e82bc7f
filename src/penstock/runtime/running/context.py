"""What all runners of a worker share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from penstock.engine.driver.engine import Engine
from penstock.engine.lease.lease import Membership
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.runtime.config.worker_config import WorkerConfig
from penstock.runtime.meters.metrics import Metrics
from penstock.runtime.plugins import Plugins
from penstock.runtime.running.end_offsets import EndOffsets
from penstock.runtime.running.scheduler import Scheduler
from penstock.runtime.stores.config_store import ConfigStore
from penstock.runtime.stores.offset_store import OffsetStore
from penstock.runtime.stores.position_copies import PositionCopies
from penstock.runtime.stores.sink_groups import SinkGroups
from penstock.runtime.stores.status_store import StatusStore
from penstock.runtime.validation.exclusive_targets import ExclusiveTargets


@dataclass(frozen=True)
class Context:
    """What every runner of this worker shares."""

    worker: WorkerConfig
    worker_id: str
    connection: Connection
    admin: GroupAdmin
    plugins: Plugins
    engine: Engine
    scheduler: Scheduler
    configs: ConfigStore
    offsets: OffsetStore
    statuses: StatusStore
    copies: PositionCopies
    ends: EndOffsets
    membership: Callable[[], Membership]
    generation: Callable[[], int]
    still_wanted: Callable[[str], bool]
    """Whether the topics currently assign a connector to this worker."""
    alone: Callable[[], bool]
    """Whether no other worker can have been given a connector of this one, in this generation."""
    put_tasks: Callable[[str, list[dict[str, str]]], None]
    """Have the leader store the tasks of a connector; RequestError if it did not."""
    metrics: Metrics = field(default_factory=Metrics)

    @cached_property
    def exclusive_targets(self) -> ExclusiveTargets:
        """Targets that only one connector may write to."""
        return ExclusiveTargets(self.configs, self.plugins, self.worker.rules)

    @property
    def sink_groups(self) -> SinkGroups:
        """The groups in which sinks keep their offsets."""
        return SinkGroups(self.configs, self.plugins, self.worker.rules)
