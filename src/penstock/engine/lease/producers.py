"""Transactional producers of this process, kept between leases. Thread-safe.

A producer may serve a task's next lease only in the process that committed the task's previous
one. The next lease may run in another process, whose new producer fences this one: then the one
kept here is stale, and using it would lose the lease at its first transaction. Only the most
recent producers are kept: each has its own threads and connections.
"""

from __future__ import annotations

import threading

from penstock.engine.lease.lease import Lease
from penstock.kafka.patience import Patience
from penstock.kafka.transactions import Transactions

MOST_KEPT = 32

_lock = threading.Lock()
_kept: dict[str, tuple[str, Transactions]] = {}


def acquire(lease: Lease, patience: Patience) -> Transactions:
    """The producer for this lease: the kept one if it is still current, else a new one."""
    with _lock:
        kept = _kept.pop(lease.transactional_id, None)
    if kept is not None and lease.previous is not None and kept[0] == lease.previous:
        kept[1].patience = patience
        return kept[1]
    settings = lease.producer_settings
    return Transactions(lease.connection, lease.transactional_id, patience, **settings)


def keep(lease: Lease, producer: Transactions) -> None:
    """Keep ``producer`` for the lease that follows this one. Only after a clean end."""
    with _lock:
        _kept[lease.transactional_id] = (lease.lease_id, producer)
        while len(_kept) > MOST_KEPT:
            del _kept[next(iter(_kept))]
