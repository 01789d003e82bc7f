"""The topics that a lease uses, reported to its worker with the heartbeats.

A topic is reported once per beat in which its records moved, not once per lease: when a user
resets the active topics, exactly those still in use come back by themselves.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable

MOST_PER_BEAT = 1000
"""Keeps a message far below the longest that the worker accepts."""


class UsedTopics:
    """Recorded by the lease, sent by its carrier's threads. Thread-safe."""

    def __init__(self, tell: Callable[[], None] = lambda: None) -> None:
        """``tell`` is called when a topic should not wait for the next message; never blocks."""
        self._lock = threading.Lock()
        self._tell = tell
        self._ever: set[str] = set()
        self._untold: set[str] = set()
        self._on_their_way: deque[set[str]] = deque()
        self.urgent = False
        """Whether the next message should have them, however soon it follows the last one."""

    def note(self, topics: Iterable[str]) -> None:
        """Records of these topics have just moved."""
        with self._lock:
            new = {*topics}
            first = not new <= self._ever
            self._ever |= new
            self._untold |= new
            self.urgent |= first
        if first:
            self._tell()

    def tell(self) -> list[str]:
        """For the next message: what was used since the last one."""
        with self._lock:
            self.urgent = False
            told = sorted(self._untold)[:MOST_PER_BEAT]
            self._untold.difference_update(told)
            self._on_their_way.append({*told})
            return told

    def heard(self) -> None:
        """The worker has answered the oldest message that it had not."""
        with self._lock:
            if self._on_their_way:
                self._on_their_way.popleft()

    def tell_again(self) -> None:
        """The connection is new: unanswered messages may have been lost."""
        with self._lock:
            self._untold |= self._unanswered()
            self._on_their_way.clear()

    def rest(self) -> frozenset[str]:
        """For the report: what the worker may not have received."""
        with self._lock:
            return frozenset(self._untold | self._unanswered())

    def _unanswered(self) -> set[str]:
        return set().union(*self._on_their_way)
