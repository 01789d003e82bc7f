"""What a restart request restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.runtime.states import State
from penstock.runtime.stores.status_store import StatusStore


@dataclass(frozen=True)
class RestartPlan:
    """The parts of a connector that are to be restarted."""

    connector: bool
    tasks: frozenset[int]

    @staticmethod
    def of(statuses: StatusStore, name: str, include_tasks: bool, only_failed: bool) -> RestartPlan:
        """The plan for these flags and the connector's current state."""
        connector = statuses.connector(name)
        failed = connector is not None and connector.state is State.FAILED
        tasks = set()
        for task in statuses.task_ids(name) if include_tasks else ():
            status = statuses.task(name, task)
            if not only_failed or (status is not None and status.state is State.FAILED):
                tasks.add(task)
        return RestartPlan(failed or not only_failed, frozenset(tasks))

    @staticmethod
    def from_json(body: dict[str, Any]) -> RestartPlan:
        """The plan from which ``to_json`` made this."""
        return RestartPlan(bool(body["connector"]), frozenset(map(int, body["tasks"])))

    def to_json(self) -> dict[str, Any]:
        """The plan as one worker sends it to another."""
        return {"connector": self.connector, "tasks": sorted(self.tasks)}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to restart."""
        return not self.connector and not self.tasks

    def show(self, status: dict[str, Any]) -> dict[str, Any]:
        """``status`` with the planned parts already RESTARTING."""
        shown = {**status, "tasks": [dict(task) for task in status["tasks"]]}
        if self.connector:
            shown["connector"] = _restarting(status["connector"])
        shown["tasks"] = [
            _restarting(task) if task["id"] in self.tasks else task for task in shown["tasks"]
        ]
        return shown


def _restarting(part: dict[str, Any]) -> dict[str, Any]:
    rest = {k: v for k, v in part.items() if k != "trace"}
    return {**rest, "state": State.RESTARTING.value}
