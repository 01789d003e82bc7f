"""Lifecycle actions on one connector, by the leader, which holds the connector's lock throughout.

Only the leader writes configs and target states. The worker that runs the connector, this one or
another, is told to apply them. A worker that cannot be reached learns of a change from the topics;
until then its tasks are fenced, so they cannot commit.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from penstock.kafka.errors import KafkaFault
from penstock.runtime.cluster.assigner import Assigner
from penstock.runtime.cluster.peers import CONFLICTING, Peers, PeerUnreachable
from penstock.runtime.errors import Conflict, InternalError
from penstock.runtime.running.connector_control import (
    END,
    RESTART,
    RESUME,
    SETTLE,
    ConnectorControl,
)
from penstock.runtime.running.context import Context
from penstock.runtime.running.fencing import fence_tasks
from penstock.runtime.running.restarts import RestartPlan
from penstock.runtime.states import Target

log = logging.getLogger(__name__)


class Actions:
    """Writes the wanted state, and has the connector's worker apply it."""

    def __init__(
        self, context: Context, assigner: Assigner, control: ConnectorControl, peers: Peers
    ) -> None:
        self._context = context
        self._assigner = assigner
        self._control = control
        self._peers = peers

    def create(self, name: str, config: Mapping[str, str], target: Target | None) -> None:
        """Store a new connector, assign it to a worker and start it."""
        assignment = self._assigner.assignment(name)
        self._context.configs.put_connector(name, config, target, assignment)
        self._assigner.read_back()
        self._tell(name, SETTLE)

    def reconfigure(self, name: str, config: Mapping[str, str]) -> None:
        """Store a new configuration: what runs is stopped, what should run is started."""
        self._context.configs.put_connector(name, config)
        self._tell(name, SETTLE)

    def pause(self, name: str) -> None:
        """PAUSED, from RUNNING or STOPPED; a FAILED connector stays FAILED."""
        configs = self._context.configs
        if configs.target(name) is not Target.PAUSED:
            configs.put_target(name, Target.PAUSED)
        self._tell(name, SETTLE)

    def resume(self, name: str) -> None:
        """RUNNING, from PAUSED or STOPPED; nothing to do if it runs. FAILED parts stay FAILED."""
        configs = self._context.configs
        if configs.target(name) is not Target.STARTED:
            configs.put_target(name, Target.STARTED)
        self._tell(name, RESUME)

    def stop(self, name: str) -> None:
        """STOPPED: only after every task id is fenced are zero tasks and the target written."""
        configs = self._context.configs
        if configs.target(name) is Target.STOPPED:
            return
        with self._ended(name) as told:
            configs.stop(name)
        self._fence_again(name, "It is stopped")
        if told:  # otherwise it learns of it from the topics
            self._tell(name, SETTLE)

    def delete(self, name: str) -> None:
        """Delete the connector; its offsets stay, and its tasks can no longer write."""
        here = self._is_here(name)  # no worker has it afterwards
        with self._ended(name):
            self._context.configs.delete(name, self._assigner.no_assignment(name))
        self._context.statuses.forget(name)
        if not here:
            self._fence_again(name, "It is deleted")

    def restart(self, name: str, plan: RestartPlan) -> None:
        """Restart what the plan names; the target state does not change."""
        if not self._tell(name, RESTART, plan.to_json()):
            raise Conflict(CONFLICTING)

    @contextmanager
    def _ended(self, name: str) -> Iterator[bool]:
        """Fence the connector: its tasks cannot commit then. Whether its worker was reached.

        If the following action fails, the connector is restored to what the topics say.
        """
        told = self._tell(name, END)
        try:
            self._fence(name, "Nothing was changed; try again.")
            yield told
        except Exception:
            if told:
                self._tell(name, SETTLE)
            raise

    def _fence_again(self, name: str, done: str) -> None:
        """A worker that could not be reached may have restarted it before it read the change."""
        if self._assigner.owner(name) != self._context.worker_id:
            self._fence(name, f"{done}, but a worker that cannot be reached may not know yet.")

    def _fence(self, name: str, otherwise: str) -> None:
        """Fence all tasks of the connector, so that they can no longer commit."""
        count = self._context.configs.fenced_tasks(name)
        try:
            fence_tasks(self._context, name, count)
        except KafkaFault as error:
            raise InternalError(
                f"Could not make sure that the tasks of connector {name} have ended: {error}. "
                f"{otherwise}"
            ) from error

    def _is_here(self, name: str) -> bool:
        return self._assigner.owner(name) in (None, self._context.worker_id)

    def _tell(self, name: str, verb: str, body: Any = None) -> bool:
        """Have it done where the connector runs; False if that worker could not be reached."""
        if self._is_here(name):
            self._control.do(verb, name, body)
            return True
        owner = self._assigner.owner(name) or ""
        try:
            self._peers.tell(owner, name, verb, body)
        except PeerUnreachable as error:
            log.warning("could not tell its worker to %s: %s", verb, error)
            return False
        return True
