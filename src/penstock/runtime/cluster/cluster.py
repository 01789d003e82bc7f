"""This worker's role in its cluster: whether it is the leader, and which connectors it runs.

The membership calls on its own thread about joining and elections, the topics on theirs about
changes. The resulting work is done here, on other threads: the leader's work on one, in order;
settling single connectors on a few.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

from penstock.engine.lease.lease import Membership as Standing
from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.kafka.generation import generation_of
from penstock.kafka.membership import Joined
from penstock.kafka.outages import outages
from penstock.logs.subject import about
from penstock.runtime.cluster.leadership import Duties
from penstock.runtime.cluster.rebalances import Rebalances
from penstock.runtime.errors import RequestError
from penstock.runtime.running.runners import Runners

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
SETTLE_THREADS = 4


class Cluster:
    """Membership, leadership and the work they involve. Thread-safe."""

    def __init__(
        self, topic: str, runners: Runners, lock: Callable[[str], AbstractContextManager[Any]]
    ) -> None:
        self._topic = topic
        self.runners = runners
        self.rebalances = Rebalances()
        self._connector_lock = lock
        self._lock = threading.Lock()
        self._elected = False
        self._denied: AccessDenied | None = None
        self._joined: Joined | None = None
        self._standing: Standing | None = None
        self._generation = 0
        self._unsettled: set[str] = set()
        self._stopping = threading.Event()
        self._took_over = threading.Event()
        self._balance_asked = threading.Event()
        self._work = ThreadPoolExecutor(1, thread_name_prefix="cluster")
        self._settling = ThreadPoolExecutor(SETTLE_THREADS, thread_name_prefix="settle")
        self.duties: Duties

    # Called by the membership.

    def joined(self, joined: Joined) -> None:
        """This worker is a member, with this standing; called again after each rebalance."""
        self.rebalances.begin()
        # Other workers may have run our connectors in between. Runners must know of it first: so
        # they read positions again before a lease begins under the new membership.
        self.runners.renew()
        with self._lock:
            self._joined = joined
            self._standing = Standing(joined.metadata, self._topic)
            self._generation = generation_of(joined.metadata)
        self._submit(self._advertise)
        self.ask_for_balance()
        self._submit(self._settle_all)
        self._submit(self._settled_down)

    def elected(self) -> None:
        """This worker is now the leader."""
        with self._lock:
            self._elected = True
        self._submit(self._lead)

    def deposed(self) -> None:
        """This worker is no longer the leader. What it runs continues until it is reassigned."""
        with self._lock:
            self._elected = False
            self._took_over.clear()
        if not self._stopping.is_set():
            log.warning("this worker is no longer the leader")

    def _advertise(self) -> None:
        if self._joined is not None:
            self.duties.advertise(self._joined)

    def _lead(self) -> None:
        if self._still_elected():
            self.duties.take_over()
            self.duties.rebalance()
        if self._still_elected(self._took_over.set):
            log.info("this worker is now the leader")
            self._settle_all()
            self.rebalances.end()

    def lead_again(self) -> None:
        """This worker's last write as the leader failed: take over again, if it still is."""
        if self.leading:
            self._submit(self._lead_again)

    def _lead_again(self) -> None:
        if self.leading and not self.duties.leads() and self._joined is not None:
            # Otherwise a thawed worker that does not know of the new leader yet would fence it.
            self.duties.refuse_unless_member(self._joined)
            self._lead()

    def _settled_down(self) -> None:
        if self.leading or not self._elected:  # otherwise it has yet to take over
            self.rebalances.end()

    def _still_elected(self, then: Callable[[], None] = lambda: None) -> bool:
        """Call ``then`` if no other leader has been elected, before one can be."""
        with self._lock:
            if self._elected:
                then()
            return self._elected

    def ask_for_balance(self) -> None:
        """If this worker is the leader: reassign connectors soon."""
        if self._took_over.is_set() and not self._balance_asked.is_set():
            self._balance_asked.set()
            self._submit(self._balance)

    def _balance(self) -> None:
        self._balance_asked.clear()
        if self._took_over.is_set():
            self.duties.rebalance()

    def _submit(self, work: Callable[[], None]) -> None:
        if not self._stopping.is_set():
            with contextlib.suppress(RuntimeError):  # it has just been stopped
                self._work.submit(self._guarded, work)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (KafkaFault, RequestError) as error:
            self._denied = error if isinstance(error, AccessDenied) else None
            level = outages.retry_level()
            log.log(level, "joining or leading the cluster: %s; trying again", error)
        except Exception:
            log.exception("joining or leading the cluster failed; trying again")
        else:
            return
        self._stopping.wait(RETRY_SECONDS)
        self._submit(work)

    # What the topics say.

    def changed(self, name: str) -> None:
        """The topics say something new about a connector."""
        with self._lock:
            if name in self._unsettled or self._stopping.is_set():
                return
            self._unsettled.add(name)
        with contextlib.suppress(RuntimeError):  # it has just been stopped
            self._settling.submit(self._settle, name)

    def _settle_all(self) -> None:
        if self._elected and not self.leading:
            return  # once it leads: before that, it cannot store tasks
        for name in {*self.duties.names(), *self.runners.names()}:
            self.changed(name)

    def _settle(self, name: str) -> None:
        with about(name), self._connector_lock(name):
            with self._lock:
                self._unsettled.discard(name)
            if self._stopping.is_set():
                return
            try:
                self.duties.settle(name)
            except Exception:
                log.exception("the connector could not be settled")

    # What runners and the herder ask.

    @property
    def leading(self) -> bool:
        """Whether this worker is the leader."""
        return self._took_over.is_set()

    def standing(self) -> Standing:
        """The membership that is part of transactions; KafkaFault while there is none."""
        standing = self._standing
        if standing is None:
            raise KafkaFault("this worker is not a member of its group at the moment")
        return standing

    def current_standing(self) -> Standing | None:
        """The same, None while there is none: what running leases are told (rule 3)."""
        return self._standing

    def still_wanted(self, name: str) -> bool:
        """Whether the topics currently assign a connector to this worker."""
        return self.duties.still_wanted(name)

    def alone(self) -> bool:
        """Whether no other worker can have been given a connector of this one, in this generation.

        Whoever has joined since is in a later one, in which leases of this one cannot commit.
        """
        return self._took_over.is_set() and self.duties.assigner.alone

    def put_tasks(self, name: str, tasks: list[dict[str, str]]) -> None:
        """Have the leader store the tasks of a connector; RequestError if it did not."""
        self.duties.put_tasks(name, tasks, leading=self.leading)

    def generation(self) -> int:
        """The group's generation, which grows with every election; part of statuses."""
        return self._generation

    def leader_url(self) -> str | None:
        """The leader's address, if this worker knows it."""
        return self.duties.leader_url()

    def health(self) -> tuple[str, str]:
        """Kafka Connect's health, and why."""
        if self.leading:
            return "healthy", "Worker has completed startup and is ready to handle requests."
        if self._follows():
            return "healthy", "Worker is ready; another worker of this group is the leader."
        return (
            "starting" if self._generation == 0 else "unhealthy",
            "The worker is not in its group at the moment: it joins when Kafka answers.",
        )

    def settled(self) -> bool:
        """Whether the worker is a member of the group and has settled."""
        return self.health()[0] == "healthy"

    def _follows(self) -> bool:
        with self._lock:
            member = self._standing is not None and not self._elected
        return member and self.duties.leader_known()

    def wait_until_settled(self, timeout: float) -> bool:
        """Whether a leader, this worker or another, is known within ``timeout`` seconds.

        AccessDenied as soon as the brokers deny access.
        """
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and not self._stopping.is_set():
            if self._took_over.wait(0.1) or self._follows():
                return True
            if self._denied is not None:
                raise self._denied
        return False

    def stop(self) -> None:
        """Halt everything, and give up leading."""
        self._stopping.set()
        self._took_over.clear()
        self.runners.stop()
        self._work.shutdown(wait=False, cancel_futures=True)
        self._settling.shutdown(wait=False, cancel_futures=True)
