"""This worker's membership of its group, and whether it leads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from penstock.engine.lease.lease import Membership
from penstock.kafka.errors import KafkaFault
from penstock.kafka.generation import generation_of
from penstock.kafka.membership import Joined


class Standing:
    """Not yet a member when it is made. Thread-safe."""

    def __init__(self, topic: str) -> None:
        """``topic`` is the workers' topic."""
        self._topic = topic
        self._lock = threading.Lock()
        self._took_over = threading.Event()
        self._membership: Membership | None = None
        self._generation = 0
        self.elected = False
        self.last_joined: Joined | None = None

    def joined(self, joined: Joined) -> None:
        """It is a member, with this standing; called again after each rebalance."""
        with self._lock:
            self.last_joined = joined
            self._membership = Membership(joined.metadata, self._topic)
            self._generation = generation_of(joined.metadata)

    def elect(self) -> None:
        """It is to lead: it does once it has taken over."""
        with self._lock:
            self.elected = True

    def depose(self) -> None:
        """It does not lead any more."""
        with self._lock:
            self.elected = False
            self._took_over.clear()

    def still_elected(self, then: Callable[[], None] = lambda: None) -> bool:
        """Call ``then`` if no other leader has been elected, before one can be."""
        with self._lock:
            if self.elected:
                then()
            return self.elected

    def take_over(self) -> bool:
        """From now on it leads, if no other leader has been elected; whether it does."""
        return self.still_elected(self._took_over.set)

    def give_up(self) -> None:
        """Lead no more, without an election: the worker stops."""
        self._took_over.clear()

    def wait_until_leading(self, timeout: float) -> bool:
        """Whether it leads within ``timeout`` seconds."""
        return self._took_over.wait(timeout)

    @property
    def leading(self) -> bool:
        """Whether this worker is the leader."""
        return self._took_over.is_set()

    @property
    def follows(self) -> bool:
        """Whether it is a member that is not to lead."""
        with self._lock:
            return self._membership is not None and not self.elected

    def membership(self) -> Membership:
        """The membership that is part of transactions; KafkaFault while there is none."""
        membership = self._membership
        if membership is None:
            raise KafkaFault("this worker is not a member of its group at the moment")
        return membership

    def current_membership(self) -> Membership | None:
        """The same, None while there is none: what running leases are told (rule 3)."""
        return self._membership

    def generation(self) -> int:
        """The group's generation, which grows with every election; part of statuses."""
        return self._generation
