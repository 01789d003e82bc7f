"""What says that it may work later is tried again: a sink's task, a conversion, a transform.

Conversions and transforms as Kafka Connect does it (``errors.retry.timeout``): after 300 ms, then
after twice as long each time up to ``errors.retry.delay.max.ms``, until the time is up.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from penstock.engine.lease.heartbeats import Heartbeat, Progress
from penstock.engine.lease.lease import Tolerance
from penstock.engine.lease.lost_leases import Interrupted
from penstock.engine.lease.traces import trace_of
from penstock.sdk.errors import RetriableError

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.3
LOG_SECONDS = 60.0
NEVER = float("inf")

T = TypeVar("T")


class Waits:
    """Tells for what a lease is waiting: its worker, and the log at once and then once a minute."""

    def __init__(self, progress: Progress, secrets: Iterable[str] = ()) -> None:
        self._progress = progress
        self._secrets = secrets
        self._next = 0.0

    def over(self) -> None:
        """It has worked."""
        self._progress.awaits = ""

    def note(self, error: RetriableError, until: str = "") -> None:
        """Something that may work later has failed again."""
        self._progress.awaits = trace_of(error, self._secrets)
        now = time.monotonic()
        if now >= self._next:
            self._next = now + LOG_SECONDS
            log.warning("waiting, and trying again%s: %s", until, error)


def retried(
    operation: Callable[[], T],
    tolerance: Tolerance,
    heartbeat: Heartbeat,
    waits: Waits,
    lease_end: float = NEVER,
) -> T:
    """The operation's result; RetriableError once the time is up, Interrupted if told to finish, or
    at the end of the lease: one that goes on after it would be taken for one that hangs."""
    until = time.monotonic() + tolerance.retry_seconds
    pause = FIRST_PAUSE
    while True:
        try:
            return operation()
        except RetriableError as error:
            now = time.monotonic()
            left = until - now
            if left <= 0:
                raise
            waits.note(error, f" for {tolerance.retry_seconds:g} s (errors.retry.timeout)")
            heartbeat.progress.step()
            left = min(left, max(0.0, lease_end - now))
            heartbeat.finish.wait(min(pause, left, tolerance.retry_delay_max))
            if heartbeat.over or now >= lease_end:
                raise Interrupted(f"told to finish while retrying: {error}") from error
            pause *= 2


def insisted(
    call: Callable[[], T],
    heartbeat: Heartbeat,
    progress: Progress,
    waits: Waits,
    lease_end: float = NEVER,
) -> T:
    """Retry a call that raises RetriableError, as it says itself, until told to finish, or until
    the end of the lease; then Interrupted."""
    while True:
        try:
            result = call()
            waits.over()
            return result
        except RetriableError as error:
            progress.step()
            progress.retries += 1
            waits.note(error)
            left = lease_end - time.monotonic()
            if heartbeat.over or left <= 0:
                raise Interrupted(f"told to finish while retrying: {error}") from error
            heartbeat.finish.wait(min(error.retry_after, left))
