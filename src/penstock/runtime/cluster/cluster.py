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

from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.kafka.membership import Joined
from penstock.kafka.outages import outages
from penstock.logs.subject import about
from penstock.runtime.cluster.leadership import Leadership
from penstock.runtime.cluster.rebalances import Rebalances
from penstock.runtime.cluster.standing import Standing
from penstock.runtime.errors import RequestError
from penstock.runtime.running.runners import Runners

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
SETTLE_THREADS = 4


class Cluster:
    """Membership, leadership and the work they involve. Thread-safe."""

    def __init__(
        self,
        standing: Standing,
        runners: Runners,
        leadership: Leadership,
        lock: Callable[[str], AbstractContextManager[Any]],
    ) -> None:
        self.runners = runners
        self.leadership = leadership
        self.rebalances = Rebalances()
        self._standing = standing
        self._connector_lock = lock
        self._lock = threading.Lock()
        self._denied: AccessDenied | None = None
        self._unsettled: set[str] = set()
        self._stopping = threading.Event()
        self._balance_asked = threading.Event()
        self._work = ThreadPoolExecutor(1, thread_name_prefix="cluster")
        self._settling = ThreadPoolExecutor(SETTLE_THREADS, thread_name_prefix="settle")

    # Called by the membership.

    def joined(self, joined: Joined) -> None:
        """This worker is a member, with this standing; called again after each rebalance."""
        self.rebalances.begin()
        # Other workers may have run our connectors in between. Runners must know of it first: so
        # they read positions again before a lease begins under the new membership.
        self.runners.renew()
        self._standing.joined(joined)
        self._submit(self._advertise)
        self.ask_for_balance()
        self._submit(self._settle_all)
        self._submit(self._settled_down)

    def elected(self) -> None:
        """This worker is now the leader."""
        self._standing.elect()
        self._submit(self._lead)

    def deposed(self) -> None:
        """This worker is no longer the leader. What it runs continues until it is reassigned."""
        self._standing.depose()
        self.leadership.resign()
        if not self._stopping.is_set():
            log.warning("this worker is no longer the leader")

    def _advertise(self) -> None:
        if (joined := self._standing.last_joined) is not None:
            self.leadership.advertise(joined)

    def _lead(self) -> None:
        if self._standing.still_elected():
            self.leadership.take_over()
            self.leadership.rebalance()
        if self._standing.take_over():
            log.info("this worker is now the leader")
            self._settle_all()
            self.rebalances.end()
        else:  # deposed meanwhile, perhaps just before it became able to write
            self.leadership.resign()

    def lead_again(self) -> None:
        """This worker's last write as the leader failed: take over again, if it still is."""
        if self.leading:
            self._submit(self._lead_again)

    def _lead_again(self) -> None:
        joined = self._standing.last_joined
        if self.leading and not self.leadership.leads() and joined is not None:
            # Otherwise a thawed worker that does not know of the new leader yet would fence it.
            self.leadership.refuse_unless_member(joined)
            self._lead()

    def _settled_down(self) -> None:
        if self.leading or not self._standing.elected:  # otherwise it has yet to take over
            self.rebalances.end()

    def ask_for_balance(self) -> None:
        """If this worker is the leader: reassign connectors soon."""
        if self.leading and not self._balance_asked.is_set():
            self._balance_asked.set()
            self._submit(self._balance)

    def _balance(self) -> None:
        self._balance_asked.clear()
        if self.leading:
            self.leadership.rebalance()

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
        if self._standing.elected and not self.leading:
            return  # once it leads: before that, it cannot store tasks
        for name in {*self.leadership.names(), *self.runners.names()}:
            self.changed(name)

    def _settle(self, name: str) -> None:
        with about(name), self._connector_lock(name):
            with self._lock:
                self._unsettled.discard(name)
            if self._stopping.is_set():
                return
            try:
                self.leadership.settle(name)
            except Exception:
                log.exception("the connector could not be settled")

    # What the herder asks.

    @property
    def leading(self) -> bool:
        """Whether this worker is the leader."""
        return self._standing.leading

    def leader_url(self) -> str | None:
        """The leader's address, if this worker knows it."""
        return self.leadership.leader_url()

    def health(self) -> tuple[str, str]:
        """Kafka Connect's health, and why."""
        if self.leading:
            return "healthy", "Worker has completed startup and is ready to handle requests."
        if self._follows():
            return "healthy", "Worker is ready; another worker of this group is the leader."
        return (
            "starting" if self._standing.generation() == 0 else "unhealthy",
            "The worker is not in its group at the moment: it joins when Kafka answers.",
        )

    def settled(self) -> bool:
        """Whether the worker is a member of the group and has settled."""
        return self.health()[0] == "healthy"

    def _follows(self) -> bool:
        return self._standing.follows and self.leadership.leader_known()

    def wait_until_settled(self, timeout: float) -> bool:
        """Whether a leader, this worker or another, is known within ``timeout`` seconds.

        AccessDenied as soon as the brokers deny access.
        """
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and not self._stopping.is_set():
            if self._standing.wait_until_leading(0.1) or self._follows():
                return True
            if self._denied is not None:
                raise self._denied
        return False

    def stop(self) -> None:
        """Halt everything, and give up leading."""
        self._stopping.set()
        self._standing.give_up()
        self.leadership.resign()
        self.runners.stop()
        self._work.shutdown(wait=False, cancel_futures=True)
        self._settling.shutdown(wait=False, cancel_futures=True)
