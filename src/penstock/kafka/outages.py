"""Reports brokers that do not answer in a few lines, however many clients there are.

Every librdkafka client logs each failed connection by itself. Here that becomes one line when a
broker goes down, one now and then for how long, and one when it is back. In a process with an
``OutageWatch``, which asks the brokers itself, its result decides; elsewhere the clients' reports.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

FIRST_REMINDER = 60.0
LAST_REMINDER = 900.0
FORGOTTEN = 600.0
"""Without an OutageWatch: no complaint for this long means that the broker is back."""
STEADY = 3
"""How many answers in a row mean that a broker is back."""


@dataclass
class _Outage:
    since: float
    heard: float
    cause: str
    complaints: int = 0
    told: bool = False
    remind_at: float = 0.0
    pause: float = FIRST_REMINDER
    answers: int = 0
    answered_at: float = 0.0

    def tell(self, now: float) -> None:
        self.told = True
        self.remind_at, self.pause = now + self.pause, min(2 * self.pause, LAST_REMINDER)


class Outages:
    """The outages seen by one process. Thread-safe; never blocks."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._away: dict[str, _Outage] = {}
        self.watched = False
        """Whether an OutageWatch runs: then complaints are checked before they are logged."""
        self.suspected = threading.Event()
        """Set while there are complaints to check."""
        self.usual = ""
        """The broker that is meant by a complaint which names none."""

    def complain(self, broker: str, cause: str) -> str | None:
        """A client could not reach a broker; returns what to log, if it is time to."""
        now = self._clock()
        with self._lock:
            outage = self._away.get(broker)
            if outage is None or (not self.watched and now - outage.heard > FORGOTTEN):
                outage = self._away[broker] = _Outage(now, now, cause)
            outage.complaints += 1
            outage.heard = now
            self.suspected.set()
            return None if self.watched else self._due(broker, outage, now)

    def brokers(self) -> list[str]:
        """The brokers that are, or may be, down."""
        with self._lock:
            return list(self._away)

    def retry_level(self) -> int:
        """The level at which to log a failure that is retried: DEBUG while brokers are known, and
        logged, to be down."""
        with self._lock:
            told = any(outage.told for outage in self._away.values())
        return logging.DEBUG if told else logging.WARNING

    def silent(self, broker: str) -> str | None:
        """The broker was checked and did not answer; returns what to log, if it is time to."""
        now = self._clock()
        with self._lock:
            outage = self._away.get(broker)
            if outage is None:
                return None
            outage.answers = 0
            return self._due(broker, outage, now)

    def answered(self, broker: str) -> str | None:
        """The broker was checked and answered; returns what to log, if anything."""
        now = self._clock()
        with self._lock:
            outage = self._away.get(broker)
            if outage is None:
                return None
            outage.answers += 1
            if outage.answers == 1:
                outage.answered_at = now
            if outage.told and outage.answers < STEADY:
                return None
            self._forget(broker)
            lasted = duration(outage.answered_at - outage.since)
            return f"broker {broker} answers again, after {lasted}" if outage.told else None

    def _forget(self, broker: str) -> None:
        del self._away[broker]
        if not self._away:
            self.suspected.clear()

    def _due(self, broker: str, outage: _Outage, now: float) -> str | None:
        if not outage.told:
            outage.tell(now)
            return f"broker {broker} does not answer ({outage.cause}); clients keep trying"
        if now < outage.remind_at:
            return None
        outage.tell(now)
        lasted = duration(now - outage.since)
        return f"broker {broker} has not answered for {lasted} ({outage.complaints} attempts)"


def duration(seconds: float) -> str:
    """A duration in words."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


outages = Outages()
"""The outages of this process."""
