"""What a runner writes about its connector in the status topic."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from penstock.engine.lease.lease import Range
from penstock.runtime.states import State, Status
from penstock.runtime.stores.status_store import StatusStore


class OwnStatuses:
    """The statuses of one connector and its tasks, as this worker sees them. Thread-safe."""

    def __init__(
        self,
        statuses: StatusStore,
        name: str,
        worker_id: str,
        generation: Callable[[], int],
        version: str | None,
    ) -> None:
        self._statuses = statuses
        self._name = name
        self._worker_id = worker_id
        self._generation = generation
        self._version = version

    def running(self, tasks: int, failed: Mapping[int, str]) -> None:
        """The connector runs with this many tasks, except those that have failed."""
        self._statuses.put_connector(self._name, self._status(State.RUNNING))
        for task in range(tasks):
            state = State.FAILED if task in failed else State.RUNNING
            self._put_task(task, state, failed.get(task))
        for task in self._statuses.task_ids(self._name):
            if task >= tasks:
                self._statuses.put_task(self._name, task, None)

    def connector_failed(self, trace: str, failed: Collection[int]) -> None:
        """The connector has failed, and its tasks do not run; those in ``failed`` did so before."""
        self._statuses.put_connector(self._name, self._status(State.FAILED, trace))
        for task in self._statuses.task_ids(self._name):
            if task not in failed:
                self._put_task(task, State.UNASSIGNED)

    def task_failed(self, task: int, trace: str, uncommitted: tuple[Range, ...] = ()) -> None:
        """The task has failed; ``uncommitted`` is what it has put without committing it."""
        status = replace(self._status(State.FAILED, trace), uncommitted=uncommitted)
        self._statuses.put_task(self._name, task, status)

    def remark_connector(self, text: str | None) -> None:
        """Add a remark to the connector's state; None removes it."""
        self._statuses.remark_connector(self._name, self._worker_id, text)

    def remark_task(self, task: int, text: str | None) -> None:
        """Add a remark to the task's state; None removes it."""
        self._statuses.remark_task(self._name, task, self._worker_id, text)

    def _put_task(self, task: int, state: State, trace: str | None = None) -> None:
        self._statuses.put_task(self._name, task, self._status(state, trace))

    def _status(self, state: State, trace: str | None = None) -> Status:
        return Status(state, self._worker_id, self._generation(), trace or None, self._version)
