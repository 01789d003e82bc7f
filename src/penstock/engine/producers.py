"""Transactional producers of this Python worker process, kept between leases.

A producer may serve a task's next lease only in the process that committed the task's previous
one. Spark hands idle Python workers out in turn, so the next lease may well run in another
process, whose new producer fences this one: then the one kept here is stale, and using it would
lose the lease at its first transaction. Of many connectors only the latest are remembered: each
producer has threads and connections of its own.
"""

from __future__ import annotations

from penstock.engine.lease import Lease
from penstock.kafka.transactions import Transactions

MOST_KEPT = 8

_kept: dict[str, tuple[str, Transactions]] = {}


def acquire(lease: Lease) -> Transactions:
    """The producer for this lease: the kept one if it is still current, else a new one."""
    kept = _kept.pop(lease.transactional_id, None)
    if kept is not None and lease.previous is not None and kept[0] == lease.previous:
        return kept[1]
    return Transactions(lease.connection, lease.transactional_id, **lease.producer_settings)


def keep(lease: Lease, producer: Transactions) -> None:
    """Keep ``producer`` for the lease that follows this one. Only after a clean end."""
    _kept[lease.transactional_id] = (lease.lease_id, producer)
    while len(_kept) > MOST_KEPT:
        del _kept[next(iter(_kept))]
