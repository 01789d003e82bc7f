"""States of connectors and tasks, in Kafka Connect's words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from penstock.engine.lease.lease import Range


class Target(StrEnum):
    """The state that the user asked for; stored in the config topic."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"

    @staticmethod
    def initial(name: str | None) -> Target:
        """The target state for the ``initial_state`` of a create request."""
        return Target.STARTED if name in (None, "RUNNING") else Target(str(name))


class State(StrEnum):
    """The state of a connector or task; stored in the status topic."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


@dataclass(frozen=True)
class Status:
    """The state of one connector or task."""

    state: State
    worker_id: str
    generation: int = 0
    trace: str | None = None
    version: str | None = None
    uncommitted: tuple[Range, ...] = ()
    """What a sink's task was given but had not committed when it failed."""
