"""A compacted topic as a table that this process follows.

Life: ``start`` creates the topic if needed and follows it from its beginning on its own thread;
every record reaches ``on_record`` in order, tombstones included. ``read_to_end`` returns once
everything written before the call has been seen. ``stop`` ends the thread. Partitions added to the
topic later are followed too: immediately by ``read_to_end``, otherwise within seconds.

Readers are read_committed, yet "the end" is the high watermark, not the last stable offset: a
read_committed reader stops at any open transaction, and would miss records committed after that
point if it treated it as the end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.kafka import topics
from penstock.kafka.clients import Connection, reader
from penstock.kafka.compacted_topics import ensure_compacted, partitions_now, too_many
from penstock.kafka.errors import BrokerUnavailable, KafkaFault
from penstock.kafka.silence import Silence

log = logging.getLogger(__name__)

REST: dict[str, Any] = {"fetch.wait.max.ms": 500}
"""For topics without transactions, whose last record shows that the end is reached. After a marker
that ends a transaction, a reader learns that only when a poll times out, so it polls for less."""


GATHER_SECONDS = 0.05
"""How long a follower rests after each record while no caller waits for it: of a hundred a second
it then takes five at a time, for a fifth of the cost."""
GONE_SECONDS = 2.0
"""A topic that was there and is unknown for this long has been deleted."""

GROWTH_SECONDS, LOOK_SECONDS = 10.0, 5.0
"""How often an idle follower checks whether its topic has more partitions, and how long it waits
for an answer."""


@dataclass(frozen=True)
class LogRecord:
    """One record of the log; ``value`` is None for a tombstone."""

    key: bytes | None
    value: bytes | None
    partition: int
    offset: int
    timestamp: int = field(default=0, compare=False)
    """Milliseconds, by the producer's clock or the broker's, as the topic is configured."""


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
        """``transactional``: whether the topic is, or ever was, written in transactions.

        ``single``: whether to reject a topic with more than one partition.
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
        self._waiting = 0
        self._awaited = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Create the topic if it is missing, and start following it."""
        self._partitions = ensure_compacted(
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
        """Tell the follower to end, without waiting for it as ``stop`` does."""
        self._stopping.set()

    def stop(self) -> None:
        """End the follower; may be called twice."""
        self.begin_to_stop()
        if self._thread is not None:
            self._thread.join(timeout=5)

    @property
    def partitions(self) -> int:
        """How many partitions the topic has; known after ``start``."""
        return self._partitions

    def read_to_end(self, timeout: float = 75.0, partitions: Iterable[int] | None = None) -> None:
        """Return when everything written before this call has reached ``on_record``.

        May wait for another producer's open transaction: at most its timeout, 60 s.
        Reads ``partitions`` only; by default all.
        """
        deadline = time.monotonic() + timeout
        self._wait_until_read(self._wait_for_ends(deadline, partitions), deadline, timeout)

    def read_past(self, partition: int, offset: int, timeout: float = 75.0) -> None:
        """Return when the committed record at ``offset`` has reached ``on_record``.

        Faster than ``read_to_end``, which has to wait for a poll to time out.
        """
        wanted = {(self.topic, partition): offset + 1}
        self._wait_until_read(wanted, time.monotonic() + timeout, timeout)

    @contextmanager
    def _hurrying(self) -> Iterator[None]:
        """Within the ``with`` block, the follower does not rest."""
        with self._moved:
            self._waiting += 1
            self._awaited.set()
        try:
            yield
        finally:
            with self._moved:
                self._waiting -= 1
                if not self._waiting:
                    self._awaited.clear()

    def _wait_until_read(
        self, wanted: dict[topics.PartitionId, int], deadline: float, timeout: float
    ) -> None:
        with self._hurrying(), self._moved:
            while behind := self._behind(wanted):
                left = deadline - time.monotonic()
                if left <= 0 or self._stopping.is_set():
                    break
                self._moved.wait(min(left, 1.0))
            else:
                return
        raise BrokerUnavailable(
            f"could not read topic {self.topic} to its end in {timeout:.0f} s: "
            + self._why_behind(behind[0])
        )

    def _why_behind(self, partition: int) -> str:
        """A transaction that outlasts its timeout is one that the brokers have lost sight of."""
        position = self._positions.get(partition, 0)
        try:
            stable = topics.ends(self._admin, [(self.topic, partition)], committed=True)
        except KafkaFault:
            stable = {}
        if stable.get((self.topic, partition)) != position:
            return f"partition {partition} is still lagging, at offset {position}"
        return (
            f"a transaction at offset {position} of partition {partition} does not end. If it "
            f'stays, see "The offsets topic cannot be read to its end" in docs/kafka-connect.md'
        )

    def _wait_for_ends(
        self, deadline: float, wanted: Iterable[int] | None
    ) -> dict[topics.PartitionId, int]:
        """The high watermarks of partitions; a new topic is unknown for a moment."""
        if self._known:
            deadline = min(deadline, time.monotonic() + GONE_SECONDS)
        while True:
            # Asked for the ends of a deleted topic, the client looks for its leaders for long.
            if self._notice_growth():
                numbers = list(self._positions) if wanted is None else wanted
                partitions = [(self.topic, p) for p in numbers]
                found = topics.ends(self._admin, partitions, committed=False)
                if len(found) == len(partitions):
                    self._known = True
                    return found
            if time.monotonic() > deadline or self._stopping.wait(0.1):
                raise BrokerUnavailable(f"topic {self.topic} no longer exists")

    def _behind(self, wanted: dict[topics.PartitionId, int]) -> list[int]:
        return [p for (_, p), end in wanted.items() if self._positions.get(p, 0) < end]

    def _follow(self) -> None:
        consumer = reader(self._connection, **self._reading)
        followed: set[int] = set()
        looked = time.monotonic()
        silence = Silence()
        try:
            while not self._stopping.is_set():
                if time.monotonic() - looked > GROWTH_SECONDS:
                    looked = time.monotonic()
                    self._look_for_growth()
                self._assign(consumer, followed)
                if self._take(consumer):
                    silence.end()
                    self._awaited.wait(GATHER_SECONDS)
                elif silence.too_long():
                    self._fetch_anew(consumer, followed)
        finally:
            consumer.close()

    def _assign(self, consumer: Consumer, followed: set[int]) -> None:
        """Start reading, from the beginning, the partitions that are not ``followed`` yet."""
        new = self._positions.keys() - followed
        if new:
            consumer.incremental_assign([TopicPartition(self.topic, p, 0) for p in sorted(new)])
            followed |= new

    def _fetch_anew(self, consumer: Consumer, followed: set[int]) -> None:
        starts = [TopicPartition(self.topic, p, self._positions[p]) for p in sorted(followed)]
        consumer.assign(starts)

    def _look_for_growth(self) -> None:
        try:
            self._notice_growth(LOOK_SECONDS)
        except KafkaFault as error:
            log.debug("partitions of topic %s: %s", self.topic, error)

    def _notice_growth(self, timeout: float = topics.ADMIN_TIMEOUT) -> bool:
        """Follow partitions that were added since the start; whether the topic exists."""
        count = partitions_now(self._admin, self.topic, timeout)
        with self._moved:
            new = [p for p in range(count) if p not in self._positions]
            self._positions |= dict.fromkeys(new, 0)
        if new and self._single:
            log.error("%s", too_many(self.topic, count))
        elif new:
            log.info("topic %s has %d partitions now", self.topic, count)
        return count > 0

    def _take(self, consumer: Consumer) -> bool:
        """Whether there was anything."""
        try:
            # Asked for many, the client waits for many: so take one first, then what is available.
            first = consumer.poll(0.5)
            # A tombstone has no length, so it counts as false.
            messages = [] if first is None else [first, *consumer.consume(1000, timeout=0)]
        except Exception:  # whatever it is: a worker whose followers end knows nothing new for ever
            log.exception("reading topic %s failed; trying again", self.topic)
            self._stopping.wait(1)
            return False
        if not messages:
            return False
        for message in messages:
            self._handle(message)
        with self._moved:
            self._moved.notify_all()
        return True

    def _handle(self, message: Message) -> None:
        error = message.error()
        partition, offset = message.partition() or 0, message.offset() or 0
        if error is None:
            written = message.timestamp()[1]
            self._deliver(LogRecord(message.key(), message.value(), partition, offset, written))
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
