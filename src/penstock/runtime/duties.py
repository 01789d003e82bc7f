"""What a member of the cluster has to do, and what its leader has to."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.membership import Joined
from penstock.runtime.assigner import Assigner
from penstock.runtime.errors import Conflict
from penstock.runtime.foreign_lead import ForeignLead
from penstock.runtime.hands import Hands
from penstock.runtime.peers import Peers
from penstock.runtime.roster import Roster
from penstock.runtime.runner import Context, fence_tasks
from penstock.runtime.states import Target
from penstock.runtime.stores import HELD_UP_SECONDS

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Duties:
    """Each call may raise KafkaFault or RequestError, and is then made again."""

    context: Context
    roster: Roster
    assigner: Assigner
    hands: Hands
    peers: Peers

    def advertise(self, joined: Joined) -> None:
        """Say where this worker is to be found."""
        self.assigner.advertise(joined)

    def take_over(self) -> None:
        """Begin to lead: fence the leader before, read to the true end, say who leads.

        Copies of sink offsets are forgotten if Kafka Connect has led since they were made.
        """
        context = self.context
        context.configs.lead()
        context.configs.log.read_to_end()
        self._read_workers_topic()
        for name in context.statuses.names() - {*context.configs.names()}:
            context.statuses.forget(name)  # of a worker that did not know yet that it was deleted
        outdated = ForeignLead(context.configs, context.copies, self.roster).outdated_copies()
        self.assigner.lead(outdated)
        if outdated:
            context.copies.log.read_to_end()
            log.info(
                "Kafka Connect has led this cluster meanwhile: the copies of %d sink offsets are "
                "forgotten, and the groups' own offsets count",
                len(outdated),
            )

    def leads(self) -> bool:
        """Whether what this worker writes as the leader would be taken."""
        return self.context.configs.leads()

    def refuse_unless_member(self, joined: Joined) -> None:
        """KafkaFault if the group does not know this worker any more."""
        self.assigner.refuse_unless_member(joined)

    def rebalance(self) -> None:
        """As the leader: give every connector to a worker that is alive."""
        self._read_workers_topic()
        self.assigner.rebalance()

    def _read_workers_topic(self) -> None:
        """To its end, which a sink's lease that was killed while it committed must not hold up."""
        try:
            self.context.copies.log.read_to_end(HELD_UP_SECONDS)
        except BrokerUnavailable:
            log.info("the workers' topic is held up by an open transaction: sinks are fenced")
            self._fence_sinks()
            self.context.copies.log.read_to_end()

    def _fence_sinks(self) -> None:
        """End whatever they have open, anywhere; those that run go on where they have committed."""
        configs = self.context.configs
        for name in configs.names():
            config = configs.config(name) or {}
            if config.get("topics") or config.get("topics.regex"):
                fence_tasks(self.context, name, configs.fenced_tasks(name))

    def names(self) -> list[str]:
        """All connectors."""
        return self.context.configs.names()

    def settle(self, name: str) -> None:
        """Make true here what the topics say about a connector."""
        self.hands.settle(name)

    def leader_known(self) -> bool:
        """Whether it is known who leads."""
        return self.roster.leader() is not None

    def leader_url(self) -> str | None:
        """Where the leader is to be found, as far as that is known."""
        leader = self.roster.leader()
        return None if leader is None else self.roster.url(leader)

    def put_tasks(self, name: str, tasks: list[dict[str, str]], *, leading: bool) -> None:
        """Store the tasks of a connector, or have the leader do so."""
        configs = self.context.configs
        if leading:
            self.store_tasks(name, tasks)
        else:
            self.peers.hand_in_tasks(name, tasks)
            configs.log.read_to_end()

    def store_tasks(self, name: str, tasks: list[dict[str, str]]) -> None:
        """As the leader: store the tasks of a connector that is to run; Conflict if it is not."""
        configs = self.context.configs
        if configs.config(name) is None or configs.target(name) is not Target.STARTED:
            raise Conflict(f"Connector {name} is not to run any more.")
        configs.put_tasks(name, tasks)

    def catch_up(self) -> None:
        """See everything that the leader has written."""
        self.assigner.read_to_end()
        self.context.configs.log.read_to_end()

    def still_wanted(self, name: str) -> bool:
        """Whether this worker is to run a connector, as the topics say at this moment."""
        self.catch_up()
        configs = self.context.configs
        wanted = configs.config(name) is not None and configs.target(name) is Target.STARTED
        return wanted and self.hands.owns(name)
