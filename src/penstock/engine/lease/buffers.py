"""What the clients of one lease may buffer: a carrier's budget, divided by its leases.

A transaction's records stay in the producer's queue until it commits, so its size is what limits
that queue. The queue's own limit stays high: a single record that exceeds it could never be sent.
"""

from __future__ import annotations

from typing import Any

PRODUCER_BUDGET = 128 * 1024 * 1024
CONSUMER_BUDGET = 128 * 1024 * 1024
LEAST = 256 * 1024
"""Less would make a client slow without saving much: it costs about as much by being there."""
MOST_FETCHED = 8 * 1024 * 1024
MOST_QUEUED = 32 * 1024 * 1024


def transaction_bytes(leases: int) -> int:
    """The most bytes in a transaction of one of so many leases."""
    return max(LEAST, PRODUCER_BUDGET // max(1, leases))


def consumer_settings(leases: int) -> dict[str, Any]:
    """The settings of the consumer of one of so many leases."""
    share = max(LEAST, CONSUMER_BUDGET // max(1, leases))
    return {
        "fetch.message.max.bytes": min(MOST_FETCHED, share),
        "queued.max.messages.kbytes": min(MOST_QUEUED, share) // 1024,
    }
