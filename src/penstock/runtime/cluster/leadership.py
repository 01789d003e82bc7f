"""What a member of the cluster does, and what its leader does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.membership import Joined
from penstock.runtime.cluster.assignments import Assignments
from penstock.runtime.running.connector_control import ConnectorControl
from penstock.runtime.running.context import Context
from penstock.runtime.running.fencing import fence_tasks
from penstock.runtime.stores.foreign_lead import ForeignLead
from penstock.runtime.stores.stores import HELD_UP_SECONDS

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Leadership:
    """Each call may raise KafkaFault or RequestError, and is then repeated."""

    context: Context
    assignments: Assignments
    control: ConnectorControl
    foreign_lead: ForeignLead

    def advertise(self, joined: Joined) -> None:
        """Advertise this worker's address."""
        self.assignments.assigner.advertise(joined)

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
        self.assignments.assigner.lead(record for records in outdated for record in records)
        if outdated:
            self._read(context.copies.log.read_to_end)
            self._read_workers_topic()
            log.info(
                "Kafka Connect has led this cluster since: the copies of %d sink offsets are "
                "deleted, and the groups' own offsets are used",
                len(outdated),
            )

    def resign(self) -> None:
        """This worker does not lead any more."""
        self.context.configs.resign()

    def leads(self) -> bool:
        """Whether writes of this worker as the leader would be accepted."""
        return self.context.configs.leads()

    def refuse_unless_member(self, joined: Joined) -> None:
        """KafkaFault if the group no longer has this worker."""
        self.assignments.assigner.refuse_unless_member(joined)

    def rebalance(self) -> None:
        """As the leader: assign every connector to a live worker."""
        self._read_workers_topic()
        self.assignments.assigner.rebalance()

    def _read_workers_topic(self) -> None:
        self._read(self.assignments.assigner.read_to_end)

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
        self.control.settle(name)

    def leader_known(self) -> bool:
        """Whether the leader is known."""
        return self.assignments.roster.leader() is not None

    def leader_url(self) -> str | None:
        """The leader's address, if known."""
        leader = self.assignments.roster.leader()
        return None if leader is None else self.assignments.roster.url(leader)
