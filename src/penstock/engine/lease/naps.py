"""Leases without records sleep until there is something new at their sources.

One thread of the process asks for all of them. Asking costs a few microseconds, waking a lease's
own thread to poll twenty times as much, and of a hundred leases it would have to be woken hundreds
of times a second. The thread ends when no lease has slept for a while: a carrier that returns to
Spark must leave nothing running.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

ASKED_PER_SECOND = 800
SHORTEST, LONGEST = 0.05, 0.25
"""Seconds between two questions about the same source."""
ROUNDS_UNUSED = 20
"""After so many rounds without a sleeping lease the thread ends."""


class Nap:
    """One lease asleep."""

    def __init__(self, has_news: Callable[[], bool], wake: Callable[[], None]) -> None:
        self._has_news = has_news
        self._wake = wake
        self._asking = threading.Lock()
        self._over = False

    def ask(self) -> None:
        """Wake the lease if there is something new, or if the question fails: ``poll`` says why."""
        with self._asking:
            if not self._over and self._news():
                self._wake()

    def end(self) -> None:
        """Stop asking; returns when no question is under way."""
        with self._asking:
            self._over = True

    def _news(self) -> bool:
        try:
            return self._has_news()
        except Exception:  # noqa: BLE001 (it is the task's, and raised again where it is handled)
            return True


class Watchman:
    """Asks for all that sleep. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._naps: set[Nap] = set()
        self._at_work = False
        self._pause = threading.Event()

    def nap(self, has_news: Callable[[], bool], bell: threading.Event, seconds: float) -> None:
        """Sleep until ``has_news``, until the bell rings, or for that many seconds.

        ``has_news`` is called on another thread, never after this has returned.
        """
        nap = Nap(has_news, bell.set)
        with self._lock:
            self._naps.add(nap)
            self._ensure_at_work()
        try:
            bell.wait(seconds)
        finally:
            with self._lock:
                self._naps.discard(nap)
            nap.end()

    def _ensure_at_work(self) -> None:
        if not self._at_work:
            self._at_work = True
            threading.Thread(target=self._work, name="watchman", daemon=True).start()

    def _work(self) -> None:
        unused = 0
        while True:
            with self._lock:
                naps = list(self._naps)
                unused = 0 if naps else unused + 1
                if unused > ROUNDS_UNUSED:
                    self._at_work = False
                    return
            for nap in naps:
                nap.ask()
            self._pause.wait(min(LONGEST, max(SHORTEST, len(naps) / ASKED_PER_SECOND)))


WATCHMAN = Watchman()
