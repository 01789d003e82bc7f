"""Where the topics of all sinks end: one question to the broker serves every sink."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from confluent_kafka.admin import AdminClient

from penstock.kafka import topics
from penstock.kafka.topics import Position

FRESH_SECONDS = 0.25
TOPICS_FRESH_SECONDS = 2.0


class EndOffsets:
    """Last stable offsets and the list of topics, asked for at most a few times a second."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self._lock = threading.Lock()
        self._wanted: dict[Position, float] = {}
        self._ends: dict[Position, int] = {}
        self._asked = 0.0
        self._topics: dict[str, int] = {}
        self._topics_asked = 0.0

    def of(self, partitions: Iterable[Position]) -> dict[Position, int]:
        """Last stable offsets, a quarter of a second old at most."""
        wanted = list(partitions)
        now = time.monotonic()
        with self._lock:
            fresh = now - self._asked < FRESH_SECONDS
            if not (fresh and all(p in self._ends for p in wanted)):
                self._ask(wanted, now)
            return {p: self._ends[p] for p in wanted if p in self._ends}

    def _ask(self, wanted: list[Position], now: float) -> None:
        self._wanted.update(dict.fromkeys(wanted, now))
        # A sink that has not asked for a while has gone; its partitions go too.
        self._wanted = {p: t for p, t in self._wanted.items() if now - t < 30}
        self._ends = topics.ends(self._admin, self._wanted, committed=True)
        self._asked = time.monotonic()

    def topics(self) -> dict[str, int]:
        """All topics with their partition counts, two seconds old at most."""
        with self._lock:
            if time.monotonic() - self._topics_asked > TOPICS_FRESH_SECONDS:
                self._topics = topics.all_topics(self._admin)
                self._topics_asked = time.monotonic()
            return self._topics
