"""A carrier as its worker sees it, and the leases that were submitted to it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from penstock.engine.carriers.book import Order
from penstock.engine.carriers.link import Link, Vitals

LATE_SECONDS = 3.0
"""Seconds within which a carrier starts where Spark has a core for it."""
ORPHANED_SECONDS = 8.0
"""Seconds after its last answered beat by which a carrier's process has ended itself."""


class Cause(StrEnum):
    """Why a carrier ended, or a lease in it."""

    ENDED = "it was released"
    VANISHED = "its carrier does not have it"
    CRASHED = "its process ended abruptly"
    SILENT = "it did not answer for 10 s"
    CONDEMNED = "a task in it hung"
    EXECUTOR_LOST = "its Spark executor was lost"
    SPARK_LOST = "Spark's JVM has died"
    CANCELLED = "it was cancelled"


class Listener(Protocol):
    """The submitter of a lease. Called on threads of the fleet: must not block."""

    def progressed(self, lease: str, told: dict[str, Any]) -> None:
        """The lease has reported its progress."""
        ...

    def asked(self, lease: str) -> None:
        """The lease asks whether it may begin: ``Fleet.confirm`` says yes."""
        ...

    def reported(self, lease: str, report: Any) -> None:
        """The lease has ended with this report."""
        ...

    def lost(self, lease: str, cause: Cause, detail: str) -> None:
        """The lease is gone without a report: what it has committed must be read."""
        ...

    def guilty(self, lease: str, detail: str) -> None:
        """The lease is gone, and has crashed its carrier too often."""
        ...


class Job(Protocol):
    """The Spark job that runs a carrier."""

    def cancel(self) -> None:
        """End it by force. May be called more than once."""
        ...


@dataclass(frozen=True)
class CarrierSeen:
    """A carrier at one moment, for people and metrics."""

    number: int
    name: str
    tasks: tuple[str, ...]
    vitals: Vitals


@dataclass
class Ticket:
    """A lease that was submitted to the fleet."""

    lease: str
    task: str
    order: Order
    listener: Listener
    carrier: Carrier | None = None
    since: float = field(default_factory=time.monotonic)
    """When it was placed into a carrier that runs."""


@dataclass(frozen=True)
class Condemned:
    """A carrier is abandoned because a lease in it does not respond."""

    culprit: str
    deadline: float
    """By the monotonic clock: until then the other leases may commit and move."""


@dataclass(eq=False)
class Carrier:
    """One carrier."""

    link: Link
    own: bool
    number: int
    job: Job | None = None
    tickets: dict[str, Ticket] = field(default_factory=dict)
    empty_since: float = field(default_factory=time.monotonic)
    started: float = field(default_factory=time.monotonic)
    condemned: Condemned | None = None
    closing: dict[str, float] = field(default_factory=dict)
    """Revoked leases that only close their tasks, with the time by which they must have ended."""
    over: bool = False
    """Whether its job has ended."""

    def seen(self) -> CarrierSeen:
        """It, as it is now."""
        tasks = tuple(ticket.task for ticket in self.tickets.values())
        return CarrierSeen(self.number, self.name, tasks, self.link.vitals)

    @property
    def late(self) -> bool:
        """Whether it waits for Spark, which has fewer cores than its settings say, or will have
        more: with dynamic allocation, only such waiting makes it ask for an executor."""
        return not self.link.bound and time.monotonic() - self.started > LATE_SECONDS

    @property
    def dead(self) -> bool:
        """Whether its process has ended, or must have by now."""
        return self.over or not self.link.bound or self.link.silence() > ORPHANED_SECONDS

    @property
    def due(self) -> bool:
        """Whether to end it, being condemned: its other leases have moved, or had their time."""
        if self.condemned is None:
            return False
        others = [lease for lease in list(self.tickets) if lease != self.condemned.culprit]
        awaited = others or self.closing
        return not awaited or time.monotonic() > self.condemned.deadline

    def holds(self, lease: str) -> bool:
        """Whether it has a lease, or will get it; not if it has just reported how that ended."""
        return lease in self.link.book.leases

    def condemn(self, culprit: str, seconds: float) -> None:
        """Have it end because of a lease; the others have so many seconds to commit and move."""
        if self.condemned is not None:
            return
        self.condemned = Condemned(culprit, time.monotonic() + seconds)
        for other in self.tickets:
            self.link.book.finish(other)
        self.link.tell()

    def not_closed(self) -> list[str]:
        """The leases that should have closed their tasks by now, told once."""
        now = time.monotonic()
        found = [lease for lease, until in self.closing.items() if now > until]
        for lease in found:
            del self.closing[lease]
        return found

    @property
    def name(self) -> str:
        """As Spark's UI and the metrics show it."""
        if self.own and len(self.tickets) == 1:
            return f"carrier of {next(iter(self.tickets.values())).task}"
        return f"shared carrier {self.number}"
