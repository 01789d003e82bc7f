"""As much of a worker as leads a cluster, on the real broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.kafka import clients
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.compacted_log import CompactedLog
from penstock.runtime.cluster.assigner import Assigner
from penstock.runtime.cluster.assignments import Assignments
from penstock.runtime.cluster.leadership import Leadership
from penstock.runtime.stores.config_store import ConfigStore
from penstock.runtime.stores.foreign_lead import ForeignLead
from penstock.runtime.stores.position_copies import PositionCopies
from penstock.runtime.stores.roster import Roster
from penstock.runtime.stores.stores import workers_log


@dataclass(frozen=True)
class Member:
    """As much of a worker as leads."""

    leadership: Leadership
    copies: PositionCopies
    workers: CompactedLog


Join = Callable[[], Member]


@pytest.fixture
def group_admin(connection: Connection) -> GroupAdmin:
    return clients.admin(connection)


@pytest.fixture
def join(connection: Connection, group_admin: GroupAdmin, name: str) -> Iterator[Join]:
    """Workers of the test's own cluster, each with stores that have been read to their ends."""
    logs: list[CompactedLog] = []

    def begin() -> Member:
        roster = Roster()
        configs = ConfigStore(connection, group_admin, f"{name}-configs", group_id=name)
        copies = PositionCopies(
            connection, group_admin, f"{name}-sink-offsets", former_topic=f"{name}-workers"
        )
        workers = workers_log(connection, group_admin, name, roster=roster, copies=copies)
        foreign = ForeignLead(configs, copies, roster, workers)
        copies.outdated = foreign.confirmed
        for log in (configs.log, copies.log, workers):
            log.start()
            logs.append(log)
            log.read_to_end(20)
        assigner = Assigner(
            worker_id="here:1",
            url="http://here:1",
            group_id=name,
            admin=group_admin,
            connection=connection,
            configs=configs,
            roster=roster,
            topic=workers,
        )
        context: Any = SimpleNamespace(
            configs=configs,
            copies=copies,
            statuses=SimpleNamespace(names=set),
            connection=connection,
            worker=SimpleNamespace(group_id=name),
        )
        nobody: Any = None
        assignments = Assignments("here:1", nobody, configs, roster, assigner, nobody)
        return Member(Leadership(context, assignments, nobody, foreign), copies, workers)

    yield begin
    for log in logs:
        log.stop()
