"""What a worker knows about one carrier: the leases it was given, and what it reported about them.

Both sides send whole states. The worker's has the ids it wants to run, the orders that the carrier
has not confirmed yet, the ids that are to finish and the reports it has received. The carrier's has
the ids it holds, their progress, the reports that were not acknowledged and the ids that ask before
they begin, each of which the worker confirms once it has made sure of it (rule 10). Each state is
numbered and names the last one received from the other side, so an order that was received but is
not held is known to be lost.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.carriers.frames import Message

Order = dict[str, Any]


@dataclass
class Given:
    """A lease that this carrier was given."""

    order: Order
    sent: int | None = None
    """The number of the first state that carried the order; None until one did."""
    seen: bool = False
    """Whether the carrier has confirmed that it holds the lease."""
    finishing: bool = False
    asked: bool = False
    confirmed: bool = False


@dataclass(frozen=True)
class News:
    """What is new in a carrier's state."""

    progress: dict[str, Any] = field(default_factory=dict)
    reports: dict[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    """Revoked leases that are known to have ended."""
    asking: tuple[str, ...] = ()
    """Leases that ask, for the first time, whether they may begin."""


class Book:
    """The worker's record of one carrier. Thread-safe; calls never block for long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given: dict[str, Given] = {}
        self._acknowledged: set[str] = set()
        self._number = 0
        self._heard = 0
        self._ending = False
        self._revoked: dict[str, int] = {}
        """Until they are known to have ended, with the first state in which they are not wanted."""

    def __len__(self) -> int:
        return len(self._given)

    @property
    def leases(self) -> list[str]:
        """The ids of the leases that it has or will get."""
        with self._lock:
            return list(self._given)

    def give(self, lease_id: str, order: Order) -> bool:
        """Let the carrier run this lease; False if the carrier is ending."""
        with self._lock:
            if self._ending:
                return False
            self._given[lease_id] = Given(order)
            return True

    def finish(self, lease_id: str) -> None:
        """Ask a lease to commit what it has and end."""
        with self._lock:
            if lease_id in self._given:
                self._given[lease_id].finishing = True

    def confirm(self, lease_id: str) -> None:
        """Let a lease that has asked begin."""
        with self._lock:
            if lease_id in self._given:
                self._given[lease_id].confirmed = True

    def revoke(self, lease_id: str) -> bool:
        """Revoke a lease: it is never confirmed from now on, and ends uncommitted.

        Returns whether the carrier may be running it: then ``News.gone`` says when it has ended.
        """
        with self._lock:
            given = self._given.pop(lease_id, None)
            sent = given is not None and given.sent is not None
            if sent:
                self._revoked[lease_id] = self._number + 1
            return sent

    def withdraw(self, lease_id: str) -> bool:
        """Revoke a lease that was never sent; returns whether that is so."""
        with self._lock:
            given = self._given.get(lease_id)
            if given is None or given.sent is not None:
                return False
            del self._given[lease_id]
            return True

    def revoke_all(self) -> list[str]:
        """Revoke all leases and give it no more; returns the ids it had."""
        with self._lock:
            self._ending = True
            lost, self._given = list(self._given), {}
            return lost

    def end(self) -> bool:
        """Release the carrier if it is idle: it gets no leases from now on."""
        with self._lock:
            self._ending = self._ending or not self._given
            return self._ending

    def state(self) -> Message:
        """The next state to send to the carrier."""
        with self._lock:
            self._number += 1
            orders = {lease: g.order for lease, g in self._given.items() if not g.seen}
            for lease in orders:
                given = self._given[lease]
                given.sent = given.sent or self._number
            return {
                "number": self._number,
                "heard": self._heard,
                "wanted": list(self._given),
                "orders": orders,
                "confirmed": [lease for lease, g in self._given.items() if g.confirmed],
                "finish": [lease for lease, g in self._given.items() if g.finishing],
                "received": list(self._acknowledged),
                "end": self._ending,
            }

    def hear(self, state: Message) -> News:
        """Process a state from the carrier; returns what is new in it."""
        with self._lock:
            self._heard = int(state["number"])
            held, reports = dict(state["held"]), dict(state["reports"])
            self._acknowledged = set(reports)
            new = {i: r for i, r in reports.items() if self._given.pop(i, None) is not None}
            lost = self._note_held(held, int(state["heard"]))
            gone = self._note_revoked(held, int(state["heard"]))
            progress = {i: p for i, p in held.items() if p and i in self._given}
            return News(progress, new, lost, gone, self._note_asking(state["asking"]))

    def _note_asking(self, asking: list[str]) -> tuple[str, ...]:
        new = [i for i in asking if i in self._given and not self._given[i].asked]
        for lease in new:
            self._given[lease].asked = True
        return tuple(new)

    def _note_revoked(self, held: dict[str, Any], heard: int) -> tuple[str, ...]:
        gone = [i for i, number in self._revoked.items() if number <= heard and i not in held]
        for lease in gone:
            del self._revoked[lease]
        return tuple(gone)

    def _note_held(self, held: dict[str, Any], heard: int) -> tuple[str, ...]:
        lost = []
        for lease, given in list(self._given.items()):
            if lease in held:
                given.seen = True
            elif given.seen or (given.sent is not None and given.sent <= heard):
                lost.append(lease)
                del self._given[lease]
        return tuple(lost)
