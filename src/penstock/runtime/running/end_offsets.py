"""The end offsets of all sinks' topics: one request to the broker serves every sink."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TypeVar

from confluent_kafka.admin import AdminClient, OffsetSpec

from penstock.kafka import topics
from penstock.kafka.errors import KafkaFault
from penstock.kafka.partition_offsets import Answers, Asked, answers, ask
from penstock.kafka.topics import ADMIN_TIMEOUT, PartitionId

log = logging.getLogger(__name__)

FRESH_SECONDS = 0.25
TOPICS_FRESH_SECONDS = 2.0
WANTED_SECONDS = 30.0

T = TypeVar("T")


class EndOffsets:
    """Last stable offsets and the list of topics, requested at most a few times a second.

    A partition without an answer, or with an error, affects only itself: from then on it is
    requested separately, so that the others do not wait for it, until it answers again.
    Thread-safe.
    """

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self._lock = threading.Lock()
        self._wanted: dict[PartitionId, float] = {}
        self._ends: dict[PartitionId, int] = {}
        self._faults: dict[PartitionId, KafkaFault] = {}
        self._asked_again: Asked = {}
        self._asked = 0.0
        self._topics: dict[str, int] = {}
        self._topics_asked = 0.0
        self._ids: dict[str, str] = {}
        self._ids_asked = 0.0

    def of(self, partitions: Iterable[PartitionId]) -> Answers:
        """Last stable offsets, at most a quarter of a second old, and the errors of the others."""
        wanted = list(partitions)
        now = time.monotonic()
        with self._lock:
            fresh = now - self._asked < FRESH_SECONDS
            if not (fresh and all(p in self._ends or p in self._faults for p in wanted)):
                self._ask(wanted, now)
            return Answers(_some(self._ends, wanted), _some(self._faults, wanted))

    def _ask(self, wanted: list[PartitionId], now: float) -> None:
        self._wanted.update(dict.fromkeys(wanted, now))
        # A sink that has not asked for a while is gone; its partitions are dropped too.
        self._wanted = {p: t for p, t in self._wanted.items() if now - t < WANTED_SECONDS}
        self._faults = {p: fault for p, fault in self._faults.items() if p in self._wanted}
        self._ask_again()
        sound = [p for p in self._wanted if p not in self._faults]
        found = answers(ask(self._admin, sound, OffsetSpec.latest(), committed=True))
        self._ends = dict(found.offsets)
        self._faults |= found.faults
        self._asked = time.monotonic()

    def _ask_again(self) -> None:
        """For partitions with errors: take the answers so far, ask again without waiting."""
        done = {p: future for p, future in self._asked_again.items() if future.done()}
        for position in done:
            del self._asked_again[position]
        for position in done.keys() - answers(done).faults.keys():
            self._faults.pop(position, None)
        faulty = [p for p in self._faults if p not in self._asked_again]
        latest = OffsetSpec.latest()
        self._asked_again |= ask(self._admin, faulty, latest, committed=True, seconds=ADMIN_TIMEOUT)

    def topics(self) -> dict[str, int]:
        """All topics with their partition counts, at most two seconds old.

        A cached list, or one from a broker that is just starting, may lack topics and partitions:
        callers plan with what is there, and must not take it to be complete.
        """
        with self._lock:
            if time.monotonic() - self._topics_asked > TOPICS_FRESH_SECONDS:
                self._topics = topics.all_topics(self._admin)
                self._topics_asked = time.monotonic()
            return self._topics

    def ids(self) -> Mapping[str, str]:
        """Ids of the topics that sinks read, a few seconds old: a hint to look more closely."""
        with self._lock:
            if time.monotonic() - self._ids_asked > TOPICS_FRESH_SECONDS:
                self._ids_asked = time.monotonic()
                try:
                    names = {topic for topic, _ in self._wanted}
                    self._ids = topics.ids(self._admin, names, hidden="")
                except KafkaFault as error:
                    log.debug("could not get the ids of topics: %s", error)
            return self._ids


def _some(known: Mapping[PartitionId, T], wanted: list[PartitionId]) -> dict[PartitionId, T]:
    return {p: known[p] for p in wanted if p in known}
