"""What the topics say about the connectors of this worker, and whom it tells their tasks."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.runtime.cluster.assigner import Assigner
from penstock.runtime.cluster.peers import Peers
from penstock.runtime.cluster.standing import Standing
from penstock.runtime.errors import Conflict
from penstock.runtime.states import Target
from penstock.runtime.stores.config_store import ConfigStore
from penstock.runtime.stores.roster import Roster


@dataclass(frozen=True)
class Assignments:
    """What runners ask of the cluster. Thread-safe."""

    worker_id: str
    standing: Standing
    configs: ConfigStore
    roster: Roster
    assigner: Assigner
    peers: Peers

    def owns(self, name: str) -> bool:
        """Whether a connector is assigned to this worker, as far as it has read."""
        return self.roster.owner(name) == self.worker_id

    def still_wanted(self, name: str) -> bool:
        """Whether the topics currently assign a connector to this worker."""
        self.catch_up()
        configs = self.configs
        wanted = configs.config(name) is not None and configs.target(name) is Target.STARTED
        return wanted and self.owns(name)

    def alone(self) -> bool:
        """Whether no other worker can have been given a connector of this one, in this generation.

        A worker that has joined since is in a later one, in which leases of this one cannot commit.
        """
        return self.standing.leading and self.assigner.alone

    def put_tasks(self, name: str, tasks: list[dict[str, str]]) -> None:
        """Have the leader store the tasks of a connector; RequestError if it did not."""
        if self.standing.leading:
            self.store_tasks(name, tasks)
        else:
            self.peers.hand_in_tasks(name, tasks)
            self.configs.log.read_to_end()

    def store_tasks(self, name: str, tasks: list[dict[str, str]]) -> None:
        """As the leader: store the tasks of a connector; Conflict if it should not run."""
        configs = self.configs
        if configs.config(name) is None or configs.target(name) is not Target.STARTED:
            raise Conflict(f"Connector {name} should no longer run.")
        configs.put_tasks(name, tasks)

    def catch_up(self) -> None:
        """Read everything that the leader has written."""
        self.assigner.read_to_end()
        self.configs.log.read_to_end()
