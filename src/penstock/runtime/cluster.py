"""This worker's place in its cluster: whether it leads, and which connectors are its own.

Membership tells of joining and of elections on its own thread, the topics of changes on theirs;
the work these mean is done here, on others: leading on one, one thing after the other; settling
single connectors on a few.
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

from penstock.engine.lease import Membership as Standing
from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.kafka.generation import generation_of
from penstock.kafka.membership import Joined
from penstock.logs.subject import about
from penstock.runtime.duties import Duties
from penstock.runtime.errors import RequestError
from penstock.runtime.rebalances import Rebalances
from penstock.runtime.runners import Runners

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
SETTLE_THREADS = 4


class Cluster:
    """Membership, leadership and what goes with them. Thread-safe."""

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

    # What membership calls.

    def joined(self, joined: Joined) -> None:
        """This worker is a member, known as that; called again after each rebalance."""
        self.rebalances.begin()
        # Others may have run meanwhile what is run here. Doubt comes first: whoever commits under
        # the new membership has then looked again where it stands.
        self.runners.doubt()
        with self._lock:
            self._joined = joined
            self._standing = Standing(joined.metadata, self._topic)
            self._generation = generation_of(joined.metadata)
        self._submit(self._advertise)
        self.ask_for_balance()
        self._submit(self._settle_all)
        self._submit(self._settled_down)

    def elected(self) -> None:
        """This worker leads now."""
        with self._lock:
            self._elected = True
        self._submit(self._lead)

    def deposed(self) -> None:
        """This worker leads no longer. What it runs goes on until somebody else has it."""
        with self._lock:
            self._elected = False
            self._took_over.clear()
        if not self._stopping.is_set():
            log.warning("this worker no longer leads")

    def _advertise(self) -> None:
        if self._joined is not None:
            self.duties.advertise(self._joined)

    def _lead(self) -> None:
        if self._still_elected():
            self.duties.take_over()
            self.duties.rebalance()
        if self._still_elected(self._took_over.set):
            log.info("this worker leads now")
            self._settle_all()
            self.rebalances.end()

    def lead_again(self) -> None:
        """What this worker wrote last, as the leader, went wrong: begin anew, if it still leads."""
        if self.leading:
            self._submit(self._lead_again)

    def _lead_again(self) -> None:
        if self.leading and not self.duties.leads() and self._joined is not None:
            # Else, thawed and not yet told that another leads, it would fence that one.
            self.duties.refuse_unless_member(self._joined)
            self._lead()

    def _settled_down(self) -> None:
        if self.leading or not self._elected:  # else it has yet to take over
            self.rebalances.end()

    def _still_elected(self, then: Callable[[], None] = lambda: None) -> bool:
        """If nobody else has been elected meanwhile, do ``then``, before anybody can be."""
        with self._lock:
            if self._elected:
                then()
            return self._elected

    def ask_for_balance(self) -> None:
        """Where this worker leads: let it share out again, soon."""
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
            log.warning("the worker's place in its cluster: %s; trying again", error)
        except Exception:
            log.exception("the worker's place in its cluster is not settled; trying again")
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
            return  # as soon as it leads: before, it cannot have tasks stored
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
        """Whether this worker leads."""
        return self._took_over.is_set()

    def standing(self) -> Standing:
        """The membership under which transactions are committed; KafkaFault while there is none."""
        standing = self._standing
        if standing is None:
            raise KafkaFault("this worker is not a member of its group just now")
        return standing

    def still_wanted(self, name: str) -> bool:
        """Whether this worker is to run a connector, as the topics say at this moment."""
        return self.duties.still_wanted(name)

    def put_tasks(self, name: str, tasks: list[dict[str, str]]) -> None:
        """Have the leader store the tasks of a connector; RequestError if it did not."""
        self.duties.put_tasks(name, tasks, leading=self.leading)

    def generation(self) -> int:
        """The group's generation, which grows with every election; goes into statuses."""
        return self._generation

    def leader_url(self) -> str | None:
        """Where the leader is to be found, as far as this worker knows."""
        return self.duties.leader_url()

    def health(self) -> tuple[str, str]:
        """Kafka Connect's health, and why."""
        if self.leading:
            return "healthy", "Worker has completed startup and is ready to handle requests."
        if self._follows():
            return "healthy", "Worker is ready; another worker of this group leads."
        return (
            "starting" if self._generation == 0 else "unhealthy",
            "The worker is not in its group just now: it joins by itself as soon as Kafka answers.",
        )

    def settled(self) -> bool:
        """Whether the worker has its place in the group."""
        return self.health()[0] == "healthy"

    def _follows(self) -> bool:
        with self._lock:
            member = self._standing is not None and not self._elected
        return member and self.duties.leader_known()

    def wait_until_settled(self, timeout: float) -> bool:
        """Whether this worker leads, or knows that another does, within ``timeout`` seconds.

        AccessDenied as soon as the brokers do not let it.
        """
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and not self._stopping.is_set():
            if self._took_over.wait(0.1) or self._follows():
                return True
            if self._denied is not None:
                raise self._denied
        return False

    def stop(self) -> None:
        """Halt everything, and lead no more."""
        self._stopping.set()
        self._took_over.clear()
        self.runners.stop()
        self._work.shutdown(wait=False, cancel_futures=True)
        self._settling.shutdown(wait=False, cancel_futures=True)
