"""States of connectors and tasks, in Kafka Connect's words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Target(StrEnum):
    """What the user asked for; kept in the config topic."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"

    @staticmethod
    def initial(name: str | None) -> Target:
        """The target that the ``initial_state`` of a create request means."""
        return Target.STARTED if name in (None, "RUNNING") else Target(str(name))


class State(StrEnum):
    """What a connector or task does; kept in the status topic."""

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
