"""``errors.retry.timeout``: a conversion or transform that says it may work later is tried again.

As Kafka Connect does it: after 300 ms, then after twice as long each time up to
``errors.retry.delay.max.ms``, until the time is up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import Tolerance
from penstock.engine.lease.lost_leases import Interrupted
from penstock.sdk.errors import RetriableError

FIRST_PAUSE = 0.3

T = TypeVar("T")


def retried(operation: Callable[[], T], tolerance: Tolerance, heartbeat: Heartbeat) -> T:
    """The operation's result; RetriableError once the time is up, Interrupted if told to finish."""
    until = time.monotonic() + tolerance.retry_seconds
    pause = FIRST_PAUSE
    while True:
        try:
            return operation()
        except RetriableError as error:
            left = until - time.monotonic()
            if left <= 0:
                raise
            heartbeat.progress.step()
            heartbeat.finish.wait(min(pause, left, tolerance.retry_delay_max))
            if heartbeat.over:
                raise Interrupted(f"told to finish while retrying: {error}") from error
            pause *= 2
