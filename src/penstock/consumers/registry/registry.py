"""The topic in which consumers are kept: one read tells them all."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from penstock.consumers.errors import NoSuchTopic
from penstock.consumers.registry.entries import (
    Entry,
    RegistryKey,
    Snapshot,
    TopicDefaults,
    consumer_key,
    defaults_value,
    entry_value,
    topic_key,
    ttl_key,
    ttl_value,
)
from penstock.consumers.topic import find_topic
from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.compacted_topics import ensure_compacted
from penstock.kafka.errors import (
    DENIED,
    AccessDenied,
    BrokerUnavailable,
    KafkaFault,
    describe,
    reading_denied,
)

TOPIC = "penstock-consumers"
SETTINGS = {
    # Small segments, soon cleaned: listing consumers reads all of it.
    "segment.bytes": str(16 * 1024 * 1024),
    "segment.ms": "3600000",
    "min.cleanable.dirty.ratio": "0.2",
}
READ_SECONDS = 30.0
FRESH_SECONDS = 10.0
WRITE_SECONDS = 20.0
PRODUCER: dict[str, Any] = {
    "message.timeout.ms": int(WRITE_SECONDS * 1000),
    # An idempotent one begins half a second later, and breaks down instead of telling where an ACL
    # is missing. Of each key only the last record counts: one request at a time keeps their order,
    # and a record that is written twice does no harm.
    "enable.idempotence": False,
    "max.in.flight.requests.per.connection": 1,
}


class Registry:
    """Reads and writes it. Thread-safe."""

    def __init__(self, connection: Connection, admin: GroupAdmin) -> None:
        self._connection = connection
        self._admin = admin
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._found = False
        self._reading = threading.Lock()
        self._snapshot = Snapshot()
        self._read_to = 0
        self._read_at = time.monotonic()
        self._failures: list[KafkaError] = []

    def ensure(self) -> None:
        """Create the topic if it is missing."""
        ensure_compacted(self._admin, TOPIC, partitions=1, settings=SETTINGS, single=True)

    def read(self) -> Snapshot:
        """Everything that was written before this call. Without the topic there is nothing.

        What was read a moment ago is not read again: opening a consumer reads several times.
        """
        if not self._exists():
            return Snapshot()
        end = topics.ends(self._admin, [(TOPIC, 0)], committed=False).get((TOPIC, 0), 0)
        with self._reading:
            if end < self._read_to or time.monotonic() > self._read_at + FRESH_SECONDS:
                self._snapshot, self._read_to, self._read_at = Snapshot(), 0, time.monotonic()
            if end > self._read_to:
                self._read_on(end)
            return self._snapshot.copy()

    def _exists(self) -> bool:
        """Asked first: where a topic ends that is not there, the client asks again and again."""
        try:
            self._found = self._found or bool(find_topic(self._admin, TOPIC).partitions)
        except NoSuchTopic:
            return False
        return self._found

    def _read_on(self, end: int) -> None:
        deadline = time.monotonic() + READ_SECONDS
        group = self._connection.reading_as
        reader = clients.reader(self._connection, committed=False)
        try:
            reader.assign([TopicPartition(TOPIC, 0, self._read_to)])
            while self._read_to < end:
                if time.monotonic() > deadline:
                    raise BrokerUnavailable(f"could not read topic {TOPIC} in {READ_SECONDS:.0f} s")
                ends = _taken(reader.consume(10_000, 0.05), self._snapshot, group)
                self._read_to = max(self._read_to, *ends, 0)
        finally:
            reader.close()

    def write(self, entries: Mapping[RegistryKey, Entry | None]) -> None:
        """Store entries; None forgets one. Returns before they are stored: see ``flush``."""
        for key, entry in entries.items():
            self._send(consumer_key(key), None if entry is None else entry_value(entry))

    def write_ttl(self, name: str, ttl_ms: int | None) -> None:
        """Store a consumer's own TTL; None forgets it."""
        self._send(ttl_key(name), None if ttl_ms is None else ttl_value(ttl_ms))

    def write_topic(self, topic: str, defaults: TopicDefaults | None) -> None:
        """Store what consumers of a topic go by."""
        self._send(topic_key(topic), None if defaults is None else defaults_value(defaults))

    def _send(self, key: bytes, value: bytes | None) -> None:
        producer = self._writer()
        while True:
            try:
                producer.produce(TOPIC, value, key, on_delivery=self._reported)
                producer.poll(0)
            except BufferError:
                producer.poll(0.1)
            except KafkaException as error:
                raise _unwritten(error.args[0]) from error
            else:
                return

    def flush(self) -> None:
        """Return when everything is stored; a fault of the kafka room if it is not, in time."""
        unsent = self._writer().flush(WRITE_SECONDS)
        self.raise_failure()
        if unsent:
            raise BrokerUnavailable("no answer in time")

    def raise_failure(self) -> None:
        """Tell, once, of what was written before and not stored."""
        failures, self._failures = self._failures, []
        if failures:
            raise _unwritten(failures[0])

    def _writer(self) -> Producer:
        with self._lock:
            if self._producer is None:
                self._producer = clients.producer(self._connection, **PRODUCER)
            return self._producer

    def _reported(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failures.append(error)


def _taken(messages: Iterable[Message], snapshot: Snapshot, group: str) -> list[int]:
    """Take in what was read; how far that goes."""
    ends = [0]
    for message in messages:
        offset = message.offset() or 0
        error = message.error()
        if error is None:
            snapshot.take(message.key(), message.value())
            ends.append(offset + 1)
        elif error.code() == KafkaError._PARTITION_EOF:
            ends.append(offset)
        elif error.code() in DENIED:
            raise reading_denied(TOPIC, group, error)
    return ends


def _unwritten(error: KafkaError) -> KafkaFault:
    if error.code() in DENIED:
        return AccessDenied(f"write to topic {TOPIC}", error)
    return BrokerUnavailable(describe(error))
