"""The keys of a worker for sessions and heartbeats in its group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.sdk.config import ConfigKey, Type, invalid_value
from penstock.sdk.config_validators import at_least

SESSION, HEARTBEAT = "session.timeout.ms", "heartbeat.interval.ms"
REBALANCE = "rebalance.timeout.ms"

MEMBERSHIP_KEYS = (
    ConfigKey(
        SESSION,
        Type.INT,
        default=10_000,
        validator=at_least(6000),
        doc="A worker that is silent for this long has left its group. Must exceed the 5 s after "
        "which a lease gives up on its worker.",
    ),
    ConfigKey(
        HEARTBEAT,
        Type.INT,
        default=None,
        validator=at_least(1),
        doc="How often a worker sends a heartbeat to its group, and learns of changes. "
        f"Unset: a quarter of {SESSION}.",
    ),
    ConfigKey(
        REBALANCE,
        Type.INT,
        default=60_000,
        validator=at_least(1),
        doc="How long a rebalance waits for each worker, and how long a worker that sends "
        f"heartbeats may do nothing else. At least {SESSION}.",
    ),
)


def membership_timings(values: Mapping[str, Any]) -> dict[str, int]:
    """Timings of the worker's membership, by the client's names; ConfigError if they clash."""
    session, heartbeat = values[SESSION], values[HEARTBEAT]
    if heartbeat is not None and heartbeat >= session:
        why = "Heartbeat must be set lower than the session timeout"
        raise invalid_value(HEARTBEAT, heartbeat, why)
    return {
        SESSION: session,
        HEARTBEAT: max(500, session // 4) if heartbeat is None else heartbeat,
        # The client's minimum.
        "max.poll.interval.ms": max(session, values[REBALANCE]),
    }
