"""Leases without records sleep until there is something new at their sources.

One thread of the process asks for all of them. Asking costs a few microseconds, waking a lease's
own thread to poll twenty times as much, and of a hundred leases it would have to be woken hundreds
of times a second. The thread ends when no lease has slept for a while: a carrier that returns to
Spark must leave nothing running.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

ASKED_PER_SECOND = 800
SHORTEST, LONGEST = 0.05, 0.25
"""Seconds between two questions about the same source."""
ROUNDS_UNUSED = 20
"""After so many rounds without a sleeping lease the thread ends."""
LATE = 1.0
"""Seconds after which a question that is not answered keeps no other lease waiting: another thread
takes over."""


class Nap:
    """One lease asleep."""

    def __init__(self, has_news: Callable[[], bool], wake: Callable[[], None]) -> None:
        self._has_news = has_news
        self._wake = wake
        self._asking = threading.Lock()
        self._over = False
        self._fatal: BaseException | None = None

    def ask(self) -> None:
        """Wake the lease if there is something new, or if the question fails: ``poll`` says why.

        Does nothing while another thread still waits for an answer.
        """
        if not self._asking.acquire(blocking=False):
            return
        try:
            if not self._over and self._news():
                self._wake()
        finally:
            self._asking.release()

    def end(self) -> None:
        """Stop asking; returns when no question is under way. Raises what would have ended the
        thread that asks, such as SystemExit: it concerns this lease alone."""
        with self._asking:
            self._over = True
        if self._fatal is not None:
            raise self._fatal

    def _news(self) -> bool:
        try:
            return self._has_news()
        except Exception:  # noqa: BLE001 (it is the task's, and raised again where it is handled)
            return True
        except BaseException as error:  # noqa: BLE001 (it is raised in the lease)
            self._fatal = error
            return True


class Watchman:
    """Asks for all that sleep. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._naps: set[Nap] = set()
        self._asks: object | None = None
        """Which thread asks: a former one that was late ends when it notices."""
        self._asked_at = 0.0
        self._pause = threading.Event()

    @property
    def at_work(self) -> bool:
        """Whether a thread asks."""
        return self._asks is not None

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
        if self._asks is None or time.monotonic() - self._asked_at > LATE:
            me = object()
            self._asks, self._asked_at = me, time.monotonic()
            threading.Thread(target=self._work, args=(me,), name="watchman", daemon=True).start()

    def _work(self, me: object) -> None:
        unused = 0
        while (naps := self._round(me, unused)) is not None:
            unused = 0 if naps else unused + 1
            for nap in naps:
                if self._asks is not me:
                    return
                self._asked_at = time.monotonic()
                nap.ask()
            self._pause.wait(min(LONGEST, max(SHORTEST, len(naps) / ASKED_PER_SECOND)))

    def _round(self, me: object, unused: int) -> list[Nap] | None:
        """Those to ask now; None if this thread is to end."""
        with self._lock:
            if self._asks is not me:
                return None
            self._asked_at = time.monotonic()
            if not self._naps and unused > ROUNDS_UNUSED:
                self._asks = None
                return None
            return list(self._naps)


WATCHMAN = Watchman()
