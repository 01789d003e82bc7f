"""Tells the submitters of leases what happened to them. Called without the fleet's lock."""

from __future__ import annotations

import logging

from penstock.engine.carriers.book import News
from penstock.engine.carriers.carrier import Carrier, Cause, Ticket

log = logging.getLogger(__name__)


def tell_news(
    news: News,
    asking: list[Ticket],
    progressed: list[Ticket],
    ended: list[Ticket],
    lost: list[Ticket],
) -> None:
    """Pass on what a carrier has reported."""
    for ticket in asking:
        ticket.listener.asked(ticket.lease)
    for ticket in progressed:
        ticket.listener.progressed(ticket.lease, news.progress[ticket.lease])
    for ticket in ended:
        ticket.listener.reported(ticket.lease, news.reports[ticket.lease])
    for ticket in lost:
        ticket.listener.lost(ticket.lease, Cause.VANISHED, "")


def tell_losses(
    carrier: Carrier, tickets: list[Ticket], guilty: list[str], cause: Cause, detail: str
) -> None:
    """A carrier has ended with these leases; which of their tasks are guilty of it."""
    if tickets:
        text = "%s ended: %s; its %d leases continue elsewhere. %s"
        log.warning(text, carrier.name, cause, len(tickets), detail)
    for ticket in tickets:
        if ticket.task in guilty:
            ticket.listener.guilty(ticket.lease, detail)
        else:
            ticket.listener.lost(ticket.lease, cause, detail)
