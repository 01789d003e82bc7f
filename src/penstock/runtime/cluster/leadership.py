"""What a member of the cluster does, and what its leader does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.membership import Joined
from penstock.runtime.cluster.assigner import Assigner
from penstock.runtime.cluster.peers import Peers
from penstock.runtime.errors import Conflict
from penstock.runtime.running.connector_control import Hands
from penstock.runtime.running.context import Context
from penstock.runtime.running.fencing import fence_tasks
from penstock.runtime.states import Target
from penstock.runtime.stores.foreign_lead import ForeignLead
from penstock.runtime.stores.roster import Roster
from penstock.runtime.stores.stores import HELD_UP_SECONDS

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Duties:
    """Each call may raise KafkaFault or RequestError, and is then repeated."""

    context: Context
    roster: Roster
    assigner: Assigner
    hands: Hands
    peers: Peers
    foreign_lead: ForeignLead

    def advertise(self, joined: Joined) -> None:
        """Advertise this worker's address."""
        self.assigner.advertise(joined)

    def take_over(self) -> None:
        """Become the leader: fence the previous one, read to the true end, record the new leader.

        Copies of sink offsets are deleted if Kafka Connect has led since they were made.
        """
        context = self.context
        context.configs.lead()
        context.configs.log.read_to_end()
        self._read_workers_topic()
        if self.foreign_lead.seen():
            self._read(context.copies.log.read_to_end)
        for name in context.statuses.names() - {*context.configs.names()}:
            context.statuses.forget(name)  # from a worker that did not know of the deletion yet
        outdated = self.foreign_lead.outdated_copies()
        self.assigner.lead(record for records in outdated for record in records)
        if outdated:
            self._read(context.copies.log.read_to_end)
            self._read_workers_topic()
            log.info(
                "Kafka Connect has led this cluster since: the copies of %d sink offsets are "
                "deleted, and the groups' own offsets are used",
                len(outdated),
            )

    def leads(self) -> bool:
        """Whether writes of this worker as the leader would be accepted."""
        return self.context.configs.leads()

    def refuse_unless_member(self, joined: Joined) -> None:
        """KafkaFault if the group no longer has this worker."""
        self.assigner.refuse_unless_member(joined)

    def rebalance(self) -> None:
        """As the leader: assign every connector to a live worker."""
        self._read_workers_topic()
        self.assigner.rebalance()

    def _read_workers_topic(self) -> None:
        self._read(self.assigner.read_to_end)

    def _read(self, read_to_end: Callable[..., None]) -> None:
        """A sink's lease that was killed during a commit must not block the leader.

        Leases of earlier versions also write to the workers' topic.
        """
        try:
            read_to_end(HELD_UP_SECONDS)
        except BrokerUnavailable:
            log.info("an open transaction blocks a topic: fencing all sinks")
            self._fence_sinks()
            read_to_end()

    def _fence_sinks(self) -> None:
        """Abort all their open transactions; running sinks continue from what is committed."""
        configs = self.context.configs
        for name in configs.names():
            config = configs.config(name) or {}
            if config.get("topics") or config.get("topics.regex"):
                fence_tasks(self.context, name, configs.fenced_tasks(name))

    def names(self) -> list[str]:
        """All connectors."""
        return self.context.configs.names()

    def settle(self, name: str) -> None:
        """Apply here what the topics say about a connector."""
        self.hands.settle(name)

    def leader_known(self) -> bool:
        """Whether the leader is known."""
        return self.roster.leader() is not None

    def leader_url(self) -> str | None:
        """The leader's address, if known."""
        leader = self.roster.leader()
        return None if leader is None else self.roster.url(leader)

    def put_tasks(self, name: str, tasks: list[dict[str, str]], *, leading: bool) -> None:
        """Store the tasks of a connector, or have the leader store them."""
        configs = self.context.configs
        if leading:
            self.store_tasks(name, tasks)
        else:
            self.peers.hand_in_tasks(name, tasks)
            configs.log.read_to_end()

    def store_tasks(self, name: str, tasks: list[dict[str, str]]) -> None:
        """As the leader: store the tasks of a connector; Conflict if it should not run."""
        configs = self.context.configs
        if configs.config(name) is None or configs.target(name) is not Target.STARTED:
            raise Conflict(f"Connector {name} should no longer run.")
        configs.put_tasks(name, tasks)

    def catch_up(self) -> None:
        """Read everything that the leader has written."""
        self.assigner.read_to_end()
        self.context.configs.log.read_to_end()

    def still_wanted(self, name: str) -> bool:
        """Whether the topics currently assign a connector to this worker."""
        self.catch_up()
        configs = self.context.configs
        wanted = configs.config(name) is not None and configs.target(name) is Target.STARTED
        return wanted and self.hands.owns(name)
