"""Leases of one process begin a few at a time.

A new client takes a tenth of a second of Python's lock. If a hundred leases made theirs at once,
the process could not even tell its worker that it lives.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lost_leases import Orphaned

AT_ONCE = 4
HOLD_SECONDS = 2.0
"""After this long the next may begin too: another connector's brokers may not answer at all."""
LOOK_SECONDS = 0.2


class Door:
    """Lets in a few at a time. Thread-safe."""

    def __init__(self, at_once: int = AT_ONCE, hold_seconds: float = HOLD_SECONDS) -> None:
        self._at_once = at_once
        self._hold_seconds = hold_seconds
        self._changed = threading.Condition()
        self._inside: dict[int, float] = {}

    @contextmanager
    def passing(self, heartbeat: Heartbeat) -> Iterator[None]:
        """Wait for a place and hold it; Orphaned if the worker no longer wants the lease."""
        me = threading.get_ident()
        with self._changed:
            while not self._has_room():
                heartbeat.progress.step()
                self._changed.wait(LOOK_SECONDS)
                if heartbeat.orphaned.is_set():
                    raise Orphaned("the worker no longer wants this lease")
            self._inside[me] = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                del self._inside[me]
                self._changed.notify()

    def _has_room(self) -> bool:
        since = time.monotonic() - self._hold_seconds
        return sum(entered > since for entered in self._inside.values()) < self._at_once


DOOR = Door()
