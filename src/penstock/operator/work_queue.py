"""Which resource is due next: each at most once in the queue, and never in two threads."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
FIRST_RETRY_SECONDS = 1.0


class WorkQueue(Generic[K]):
    """Keys with the time at which they are due. Thread-safe.

    `take` gives a key to one caller, who ends with `done`; what is added meanwhile comes after.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._taken: set[K] = set()
        self._again: dict[K, float] = {}
        self._tries: dict[K, int] = {}
        self._count = 0
        self._closed = False

    def __len__(self) -> int:
        with self._changed:
            now = self._clock()
            return sum(1 for due in self._due.values() if due <= now)

    def add(self, key: K, delay: float = 0.0) -> None:
        """Make it due after ``delay`` seconds, or earlier if it is already."""
        with self._changed:
            self._add(key, self._clock() + delay)
            self._changed.notify()

    def _add(self, key: K, due: float) -> None:
        if key in self._taken:
            self._again[key] = min(due, self._again.get(key, due))
        elif due < self._due.get(key, float("inf")):
            self._due[key] = due
            self._count += 1
            heapq.heappush(self._heap, (due, self._count, key))

    def retry(self, key: K, longest: float) -> None:
        """Make it due after a while that doubles with every call until `settle`."""
        with self._changed:
            tries = self._tries.get(key, 0)
            self._tries[key] = tries + 1
            pause = min(FIRST_RETRY_SECONDS * 2.0 ** min(tries, 30), longest)
            self._add(key, self._clock() + pause)
            self._changed.notify()

    def settle(self, key: K) -> None:
        """Forget how often it was tried."""
        with self._changed:
            self._tries.pop(key, None)

    def forget(self, key: K) -> None:
        """It is gone: no more rounds."""
        with self._changed:
            self._tries.pop(key, None)
            self._due.pop(key, None)
            self._again.pop(key, None)

    def take(self) -> K | None:
        """The next key, once one is due; None when the queue is closed."""
        with self._changed:
            while not self._closed:
                key, wait = self._next()
                if key is not None:
                    self._taken.add(key)
                    return key
                self._changed.wait(wait)
            return None

    def _next(self) -> tuple[K | None, float | None]:
        while self._heap:
            due, _, key = self._heap[0]
            if self._due.get(key) != due:
                heapq.heappop(self._heap)  # an entry that an earlier one has replaced
            elif due > self._clock():
                return None, due - self._clock()
            else:
                heapq.heappop(self._heap)
                del self._due[key]
                return key, None
        return None, None

    def done(self, key: K) -> None:
        """Give a key back."""
        with self._changed:
            self._taken.discard(key)
            due = self._again.pop(key, None)
            if due is not None:
                self._add(key, due)
                self._changed.notify()

    def close(self) -> None:
        """Let every taker go."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
