"""All carriers of a worker: which there are, what each runs, and what happens to lost leases.

Callers submit a lease with a ``Listener``, which is called once when it ends. The fleet starts
carriers as needed, moves leases that are too heavy to share, condemns carriers that no longer
answer, and releases carriers that have been idle for a minute.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator

from penstock.engine.carriers.book import News, Order
from penstock.engine.carriers.carrier import (
    Carrier,
    CarrierSeen,
    Cause,
    Job,
    Listener,
    Ticket,
)
from penstock.engine.carriers.frames import Message
from penstock.engine.carriers.ghosts import Ghosts
from penstock.engine.carriers.hub import Hub
from penstock.engine.carriers.link import Link
from penstock.engine.carriers.loads import Loads
from penstock.engine.carriers.placement import Decision, place, should_move
from penstock.engine.carriers.seating import Seating
from penstock.engine.carriers.suspicion import Suspicion
from penstock.engine.carriers.telling import tell_losses, tell_news

log = logging.getLogger(__name__)

SILENT_SECONDS = 10.0
"""Seconds of silence after which a carrier that has connected once is taken to be dead."""
EMPTY_SECONDS = 60.0
CLEARED_SECONDS = 20.0
"""A suspect that has run for this long is cleared."""
MOVING_SECONDS = 5.0
"""The time that the leases of a condemned carrier have to commit and move."""
TICK_SECONDS = 0.2
CLOSING_LOOK = 0.05
"""How often to check, at the end, whether what is closing has closed."""


Launch = Callable[[Link, str, Callable[[Cause, str], None]], Job]
"""Starts a job for a link, with a description; the callback is called once, at its end."""


class Fleet:
    """Thread-safe. Listeners are called without any lock held."""

    def __init__(
        self,
        hub: Hub,
        launch: Launch,
        most: int,
        extras: Callable[[], Message],
        *,
        expecting: Callable[[], bool] = lambda: False,
    ) -> None:
        """While it is ``expecting`` leases, one carrier stays, even if none runs now."""
        self._expecting = expecting
        self._hub = hub
        self._launch = launch
        self._most = most
        self._extras = extras
        self._lock = threading.RLock()
        self._carriers: dict[str, Carrier] = {}
        self._tickets: dict[str, Ticket] = {}
        self._waiting: list[Ticket] = []
        self._last: dict[str, str] = {}
        self._loads = Loads()
        self._suspicion = Suspicion()
        self._seating = Seating(self._loads, self._suspicion, self._last)
        self._ghosts = Ghosts()
        self._count = 0
        self._stopping = threading.Event()
        self.losses = 0
        self.moves = 0

    def start(self) -> None:
        """Start watching the carriers."""
        threading.Thread(target=self._watch, name="fleet", daemon=True).start()

    def stop(self) -> None:
        """Abandon all carriers, as soon as what only closes in them has had its time."""
        while any(carrier.closing for carrier in self._all()):
            self._condemn_unclosed()
            time.sleep(CLOSING_LOOK)
        self._stopping.set()
        for carrier in self._all():
            self._gone(carrier, Cause.CANCELLED, "the worker is stopping")

    # What runners call.

    def run(self, lease: str, task: str, order: Order, listener: Listener) -> None:
        """Run a lease of ``task``. Returns immediately; the listener is called when it ends."""
        with self._lock:
            ticket = Ticket(lease, task, order, listener)
            self._tickets[lease] = ticket
            self._place(ticket)

    def finish(self, lease: str) -> None:
        """Ask a lease to commit what it has and end."""
        with self._lock:
            if (carrier := self._carrier_of(lease)) is not None:
                carrier.link.book.finish(lease)
                carrier.link.tell()

    def confirm(self, lease: str) -> None:
        """Let a lease that has asked begin."""
        with self._lock:
            if (carrier := self._carrier_of(lease)) is not None:
                carrier.link.book.confirm(lease)
                carrier.link.tell()

    def withdraw(self, lease: str) -> bool:
        """Revoke a lease that no carrier has been sent yet; returns whether that is so."""
        with self._lock:
            ticket = self._tickets.get(lease)
            if ticket is None:
                return False
            carrier = ticket.carrier
            return (carrier is None or carrier.link.book.withdraw(lease)) and self.revoke(lease)

    def revoke(self, lease: str) -> bool:
        """Revoke a lease immediately: its listener is not called any more.

        Returns whether it was there. It may still run for a moment, so it must be fenced.
        """
        with self._lock:
            ticket = self._tickets.pop(lease, None)
            if ticket is None:
                return False
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            if ticket.carrier is not None:
                if ticket.carrier.link.book.revoke(lease):
                    self._ghosts.add(lease, ticket.task, ticket.carrier)
                ticket.carrier.link.tell()
                self._leave(ticket)
            return True

    def condemn(self, lease: str) -> None:
        """End the carrier of a lease that does not respond; its other leases are moved first."""
        with self._lock:
            if (carrier := self._carrier_of(lease)) is not None and carrier.holds(lease):
                carrier.condemn(lease, MOVING_SECONDS)

    def leave_closing(self, lease: str, seconds: float) -> None:
        """Revoke a lease that has committed everything and only closes its task.

        Its carrier is condemned if it has not ended in so many seconds.
        """
        with self._lock:
            carrier = self._carrier_of(lease)
            self.revoke(lease)
            if carrier is not None and lease in self._ghosts:  # or it has just reported
                carrier.closing[lease] = time.monotonic() + seconds

    def waits(self, lease: str) -> bool:
        """Whether a lease waits for a carrier to start."""
        ticket = self._tickets.get(lease)
        return ticket is not None and (ticket.carrier is None or not ticket.carrier.link.bound)

    def where(self, lease: str) -> str:
        """The name of the carrier that runs a lease, or ""."""
        carrier = self._carrier_of(lease)
        return "" if carrier is None else carrier.name

    def seen(self) -> list[CarrierSeen]:
        """All carriers that have connected, as they are now."""
        with self._lock:
            return [carrier.seen() for carrier in self._carriers.values() if carrier.link.bound]

    def _carrier_of(self, lease: str) -> Carrier | None:
        ticket = self._tickets.get(lease)
        return None if ticket is None else ticket.carrier

    # Placing.

    def _place(self, ticket: Ticket) -> None:
        if self._ghosts.haunt(ticket.task):
            self._waiting.append(ticket)
            return
        decision = self._decision(ticket)
        carrier = self._carriers.get(decision.carrier or "")
        if decision.start:
            started = self._start_carrier(decision, ticket)
            carrier = carrier or started
        if carrier is None or not self._give(carrier, ticket):
            self._waiting.append(ticket)

    def _decision(self, ticket: Ticket) -> Decision:
        """Among the carriers that start in time; while some do not, no further one would."""
        seated = [c for c in self._carriers.values() if c.condemned is None]
        timely = [c for c in seated if not c.late]
        free = self._free() if len(timely) == len(seated) else 0
        if not timely:  # all wait for Spark, and so does the lease
            timely = seated
        seats = list(map(self._seating.seat, timely))
        return place(self._seating.wish(ticket.task), seats, len(timely) + free)

    def _free(self) -> int:
        return self._most - len(self._carriers)

    def _give(self, carrier: Carrier, ticket: Ticket) -> bool:
        if not carrier.link.book.give(ticket.lease, ticket.order):
            return False
        ticket.carrier = carrier
        carrier.tickets[ticket.lease] = ticket
        carrier.link.tell()
        return True

    def _start_carrier(self, decision: Decision, ticket: Ticket) -> Carrier:
        self._count += 1
        link = Link(self._extras, self._heard)
        carrier = Carrier(link, decision.own, self._count)
        self._carriers[link.carrier] = carrier
        self._hub.expect(link)
        name = f"carrier of {ticket.task}" if decision.own else carrier.name
        carrier.job = self._launch(
            link, name, lambda cause, detail: self._job_ended(carrier, cause, detail)
        )
        return carrier

    def _job_ended(self, carrier: Carrier, cause: Cause, detail: str) -> None:
        carrier.over = True
        self._gone(carrier, cause, carrier.link.last_words or detail)

    def _place_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for ticket in waiting:
            self._place(ticket)

    def _leave(self, ticket: Ticket) -> None:
        carrier = ticket.carrier
        if carrier is not None:
            carrier.tickets.pop(ticket.lease, None)
            carrier.empty_since = time.monotonic()

    # What carriers report.

    def _heard(self, link: Link, news: News) -> None:
        with self._lock:
            for lease in news.gone:
                self._ghosts.ended(lease)
                if (carrier := self._carriers.get(link.carrier)) is not None:
                    carrier.closing.pop(lease, None)
            if news.gone:
                self._place_waiting()
            asking = self._known(news.asking)
            progressed = self._known(news.progress)
            for ticket in progressed:
                self._loads.note(ticket.task, news.progress[ticket.lease])
            ended = self._known(news.reports)
            for ticket in ended:
                self._end(ticket)
                self._last[ticket.task] = link.carrier
                self._suspicion.cleared(ticket.task)
            lost = self._known(news.lost)
            for ticket in lost:
                self._end(ticket)
            self.losses += len(lost)
        tell_news(news, asking, progressed, ended, lost)

    def _known(self, leases: Iterable[str]) -> list[Ticket]:
        return [self._tickets[lease] for lease in leases if lease in self._tickets]

    def _end(self, ticket: Ticket) -> None:
        del self._tickets[ticket.lease]
        self._leave(ticket)

    def _gone(self, carrier: Carrier, cause: Cause, detail: str) -> None:
        """A carrier ended or is abandoned: its leases are lost."""
        with self._lock:
            if self._carriers.pop(carrier.link.carrier, None) is None:
                return
            carrier.link.book.revoke_all()
            tickets = list(carrier.tickets.values())
            for ticket in tickets:
                self._tickets.pop(ticket.lease, None)
                self._ghosts.add(ticket.lease, ticket.task, carrier)
            tasks = [ticket.task for ticket in tickets]
            guilty = self._suspicion.died(tasks) if tasks and cause is Cause.CRASHED else []
            self.losses += len(tickets)
        self._hub.forget(carrier.link)
        if cause is not Cause.ENDED and carrier.job is not None:
            carrier.job.cancel()
        tell_losses(carrier, tickets, guilty, cause, detail)

    # What happens by itself.

    def _watch(self) -> None:
        while not self._stopping.wait(TICK_SECONDS):
            try:
                self.tick()
            except Exception:
                log.exception("watching the carriers failed; trying again")

    def tick(self) -> None:
        """Abandon silent carriers, release idle ones, move heavy leases, place waiting ones."""
        for carrier in self._all():
            if carrier.link.silence() > SILENT_SECONDS:
                self._gone(carrier, Cause.SILENT, "")
            elif carrier.due:
                self._gone(carrier, Cause.CONDEMNED, "")
        self._condemn_unclosed()
        with self._lock:
            for task in _running_long(self._tickets.values()):
                self._suspicion.cleared(task)
            busy = bool(self._tickets) or self._expecting()
            for carrier in _empty_for_long(self._carriers.values(), busy=busy):
                if carrier.link.book.end():
                    carrier.link.tell()
            self._seat_elsewhere()
            self._move()
            self._place_waiting()

    def _all(self) -> list[Carrier]:
        with self._lock:
            return list(self._carriers.values())

    def _condemn_unclosed(self) -> None:
        with self._lock:
            for carrier in self._carriers.values():
                for lease in carrier.not_closed():
                    carrier.condemn(lease, MOVING_SECONDS)

    def _seat_elsewhere(self) -> None:
        """Leases do not wait for a late carrier while another one runs."""
        carriers = list(self._carriers.values())
        if not any(carrier.link.bound and carrier.condemned is None for carrier in carriers):
            return
        for carrier in carriers:
            for ticket in list(carrier.tickets.values()) if carrier.late else ():
                if carrier.link.book.withdraw(ticket.lease):
                    self._leave(ticket)
                    ticket.carrier = None
                    self._place(ticket)

    def _move(self) -> None:
        for carrier, ticket in _to_move(self._carriers.values(), self._loads, self._free()):
            self._loads.weigh(ticket.task, heavy=not carrier.own)
            carrier.link.book.finish(ticket.lease)
            carrier.link.tell()
            self.moves += 1


def _to_move(
    carriers: Collection[Carrier], loads: Loads, unstarted: int
) -> Iterator[tuple[Carrier, Ticket]]:
    """Leases that weigh on others, as many as there are carriers free, or yet to be started."""
    idle = sum(c.own and c.link.bound and not c.tickets for c in carriers)
    free = idle + (0 if any(c.late for c in carriers) else unstarted)
    for carrier in carriers:
        for ticket in list(carrier.tickets.values()):
            load = loads.of(ticket.task)
            sharers = len(carrier.tickets) - 1
            if should_move(load, own=carrier.own, sharers=sharers, free=free):
                yield carrier, ticket
                free -= 1


def _running_long(tickets: Iterable[Ticket]) -> Iterator[str]:
    """The tasks that have run long enough not to be suspects any more."""
    now = time.monotonic()
    for ticket in tickets:
        if ticket.carrier is None or not ticket.carrier.link.bound:
            ticket.since = now
        elif now - ticket.since > CLEARED_SECONDS:
            yield ticket.task


def _empty_for_long(carriers: Collection[Carrier], *, busy: bool) -> list[Carrier]:
    """Carriers to release. While anything runs, or will, one shared carrier stays: a new one takes
    a second to begin, and its leases have to make their clients."""
    now = time.monotonic()
    shared = [carrier for carrier in carriers if not carrier.own]
    empty = [c for c in carriers if not c.tickets and now - c.empty_since > EMPTY_SECONDS]
    return [c for c in empty if not (busy and shared and c is shared[0])]
