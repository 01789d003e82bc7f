"""A compacted topic as a table that this process follows.

Life: ``start`` creates the topic if needed and follows it from its beginning on a thread of its
own; every record reaches ``on_record`` in order, tombstones included. ``read_to_end`` returns once
everything that had been written before the call has been seen. ``stop`` ends the thread.

Readers are read_committed, yet "the end" is the high watermark, not the last stable offset: a
read_committed reader stops at anybody's open transaction, and a record committed behind it would
be missed if its stopping place were taken for the end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.kafka import topics
from penstock.kafka.clients import Connection, reader
from penstock.kafka.errors import BrokerUnavailable

log = logging.getLogger(__name__)

REST: dict[str, Any] = {"fetch.wait.max.ms": 500}
"""For topics without transactions. Behind the marker that ends one, a reader learns only by waiting
in vain that it has reached the end, so that it waits for less; elsewhere records tell."""


GONE_SECONDS = 2.0
"""A topic that was there and is unknown for this long has been deleted."""


@dataclass(frozen=True)
class LogRecord:
    """One record of the log; ``value`` is None for a tombstone."""

    key: bytes | None
    value: bytes | None
    partition: int
    offset: int


class CompactedLog:
    """Follows one topic. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        admin: AdminClient,
        topic: str,
        on_record: Callable[[LogRecord], None],
        *,
        partitions: int = 1,
        replication: int = -1,
        transactional: bool = True,
        single: bool = False,
    ) -> None:
        """``transactional``: whether it is, or ever was, written to in transactions.

        ``single``: whether a topic with more than one partition is to be refused.
        """
        self.topic = topic
        self._connection = connection
        self._admin = admin
        self._on_record = on_record
        self._partitions = partitions
        self._replication = replication
        self._single = single
        self._known = False
        self._reading = {} if transactional else REST
        self._positions: dict[int, int] = {}
        self._moved = threading.Condition()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Create the topic if it is missing, and begin to follow it."""
        self._partitions = topics.ensure_compacted(
            self._admin,
            self.topic,
            partitions=self._partitions,
            replication=self._replication,
            single=self._single,
        )
        self._positions = dict.fromkeys(range(self._partitions), 0)
        self._thread = threading.Thread(target=self._follow, name=f"log-{self.topic}", daemon=True)
        self._thread.start()

    def begin_to_stop(self) -> None:
        """Let the follower end, without waiting for it as ``stop`` does."""
        self._stopping.set()

    def stop(self) -> None:
        """End the follower; may be called twice."""
        self.begin_to_stop()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def read_to_end(self, timeout: float = 75.0) -> None:
        """Return when everything written before this call has reached ``on_record``.

        May wait for another's open transaction to end: that takes as long as its timeout, 60 s.
        """
        deadline = time.monotonic() + timeout
        self._wait_until_read(self._wait_for_ends(deadline), deadline, timeout)

    def read_past(self, partition: int, offset: int, timeout: float = 75.0) -> None:
        """Return when the committed record at ``offset`` has reached ``on_record``.

        Sooner than ``read_to_end``, which learns only by waiting in vain that nothing follows.
        """
        wanted = {(self.topic, partition): offset + 1}
        self._wait_until_read(wanted, time.monotonic() + timeout, timeout)

    def _wait_until_read(
        self, wanted: dict[topics.Position, int], deadline: float, timeout: float
    ) -> None:
        with self._moved:
            while behind := self._behind(wanted):
                left = deadline - time.monotonic()
                if left <= 0 or self._stopping.is_set():
                    raise BrokerUnavailable(
                        f"could not read topic {self.topic} to its end in {timeout:.0f} s "
                        f"(partition {behind[0]} is still behind)"
                    )
                self._moved.wait(min(left, 1.0))

    def _wait_for_ends(self, deadline: float) -> dict[topics.Position, int]:
        """The high watermarks of all partitions; a topic made just now is unknown for a moment."""
        partitions = [(self.topic, p) for p in self._positions]
        if self._known:
            deadline = min(deadline, time.monotonic() + GONE_SECONDS)
        while True:
            found = topics.ends(self._admin, partitions, committed=False)
            if len(found) == len(partitions):
                self._known = True
                return found
            if time.monotonic() > deadline or self._stopping.wait(0.1):
                raise BrokerUnavailable(f"topic {self.topic} does not exist any more")

    def _behind(self, wanted: dict[topics.Position, int]) -> list[int]:
        return [p for (_, p), end in wanted.items() if self._positions.get(p, 0) < end]

    def _follow(self) -> None:
        consumer = reader(self._connection, **self._reading)
        try:
            consumer.assign([TopicPartition(self.topic, p, 0) for p in self._positions])
            while not self._stopping.is_set():
                self._take(consumer)
        finally:
            consumer.close()

    def _take(self, consumer: Consumer) -> None:
        try:
            # Asked for many, the client waits for many: so one first, then those that are there.
            first = consumer.poll(0.5)
            # A tombstone has no length, so it counts as false.
            messages = [] if first is None else [first, *consumer.consume(1000, timeout=0)]
        except KafkaException:
            log.exception("reading topic %s failed; trying again", self.topic)
            self._stopping.wait(1)
            return
        if not messages:
            return
        for message in messages:
            self._handle(message)
        with self._moved:
            self._moved.notify_all()

    def _handle(self, message: Message) -> None:
        error = message.error()
        partition, offset = message.partition() or 0, message.offset() or 0
        if error is None:
            self._deliver(LogRecord(message.key(), message.value(), partition, offset))
            self._positions[partition] = offset + 1
        elif error.code() == KafkaError._PARTITION_EOF:
            # Markers and aborted records move the end on without ever being delivered.
            self._positions[partition] = max(self._positions[partition], offset)
        elif not error.retriable():
            log.warning("reading topic %s: %s", self.topic, error.str())

    def _deliver(self, record: LogRecord) -> None:
        try:
            self._on_record(record)
        except Exception:
            log.exception(
                "ignored a record of topic %s at %d:%d",
                self.topic,
                record.partition,
                record.offset,
            )
