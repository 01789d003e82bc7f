"""A topic as an outside reader sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from penstock.kafka.errors import KafkaFault
from penstock.kafka.topics import ends
from waiting import eventually

T = TypeVar("T")
MOST_QUEUED = 50_000
"""Records that a client holds back. It refuses more than twice as many."""


class Topics:
    """Reads and writes topics of one cluster with plain clients.

    They log nothing: one that outlives its cluster would tell of that every second, and bury why
    a test failed.
    """

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        self._settings: dict[str, str | int | float | bool] = {
            "bootstrap.servers": bootstrap_servers,
            "log_level": 0,
        }
        self.admin = AdminClient(self._settings)

    def create(
        self, topic: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        """Make a topic, and wait until the broker lists it."""
        self.admin.create_topics([NewTopic(topic, partitions, 1, config=dict(config or {}))])[
            topic
        ].result(20)
        eventually(lambda: topic in self.admin.list_topics(timeout=20).topics, what=topic)

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions, and wait until the broker lists them."""
        self.admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(20)
        eventually(
            lambda: len(self.admin.list_topics(timeout=20).topics[topic].partitions) == partitions,
            what=f"{topic} with {partitions} partitions",
        )

    def delete(self, topic: str) -> None:
        """Remove a topic, and wait until the broker does not list it any more."""
        self.admin.delete_topics([topic])[topic].result(20)
        eventually(lambda: topic not in self.admin.list_topics(timeout=20).topics, what=topic)

    def end(self, topic: str, partition: int = 0, *, committed: bool = True) -> int:
        """The last stable offset, or the high watermark; 0 for a topic that is not there.

        Asked again while the broker cannot answer: it may just have come back.
        """
        return self._patiently(lambda: self._ends(topic, partition, committed))

    def _ends(self, topic: str, partition: int, committed: bool) -> int:
        # Else the client would go on believing that a topic does not exist.
        self.admin.list_topics(timeout=20)
        return ends(self.admin, [(topic, partition)], committed=committed).get(
            (topic, partition), 0
        )

    def _patiently(self, ask: Callable[[], T], within: float = 30.0) -> T:
        deadline = time.monotonic() + within
        while True:
            try:
                return ask()
            except (KafkaException, KafkaFault):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
                # One that asks a broker too early is told that there are none, and gives up.
                self.admin = AdminClient(self._settings)

    def messages(self, topic: str, *, committed: bool = True) -> list[Message]:
        """Everything the topic holds now, partition by partition."""
        known = self._patiently(lambda: self.admin.list_topics(timeout=20)).topics.get(topic)
        found: dict[int, list[Message]] = {p: [] for p in (known.partitions if known else ())}
        if committed:
            self._settle(topic, found)
        for message in self._read(topic, set(found), committed):
            found[message.partition() or 0].append(message)
        return [message for messages in found.values() for message in messages]

    def _settle(self, topic: str, partitions: Iterable[int], within: float = 10.0) -> None:
        """Wait for the markers of what is written now, unless a transaction stays open.

        The broker answers a commit before the markers are there: what a test has seen committed
        may otherwise be missing here, for as long as the machine is busy.
        """
        deadline = time.monotonic() + within
        for partition in partitions:
            written = self.end(topic, partition, committed=False)
            while self.end(topic, partition) < written and time.monotonic() < deadline:
                time.sleep(0.02)

    def values(self, topic: str) -> list[str]:
        """The committed values, in order within each partition."""
        return [(m.value() or b"").decode() for m in self.messages(topic)]

    def _read(self, topic: str, unread: set[int], committed: bool) -> Iterable[Message]:
        consumer = Consumer(
            {
                **self._settings,
                "group.id": "test-reader",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed" if committed else "read_uncommitted",
                "fetch.message.max.bytes": 64 * 1024 * 1024,
            }
        )
        try:
            consumer.assign([TopicPartition(topic, partition, 0) for partition in unread])
            while unread:
                first = consumer.poll(10)
                for message in (
                    () if first is None else [first, *consumer.consume(10_000, timeout=0)]
                ):
                    error = message.error()
                    if error is None and message.partition() in unread:
                        yield message
                    elif error is None:
                        continue  # written after we were told that this was the end
                    elif error.code() == KafkaError._PARTITION_EOF:
                        unread.discard(message.partition() or 0)
                    else:
                        raise KafkaException(error)
        finally:
            consumer.close()

    def produce(
        self, topic: str, values: Iterable[bytes], *, partition: int = 0, abort: bool = False
    ) -> None:
        """Write values in one transaction, commit or abort it, and wait until readers see that."""
        producer = self.transaction(f"test-{topic}-{partition}")
        written: list[int] = []
        for value in values:
            while len(producer) >= MOST_QUEUED:
                producer.poll(0.1)
            producer.produce(
                topic,
                value,
                partition=partition,
                on_delivery=lambda _, message: written.append(message.offset() or 0),
            )
        producer.flush(20)
        if abort:
            producer.abort_transaction(20)
        else:
            producer.commit_transaction(20)
        if written:
            # The broker answers before it has written the marker, which is a record of its own.
            eventually(
                lambda: self.end(topic, partition, committed=False) > max(written) + 1,
                what="the marker of the transaction",
            )

    def transaction(self, transactional_id: str) -> Producer:
        """A producer with an open transaction."""
        producer = Producer(
            {
                **self._settings,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": 60_000,
                "message.max.bytes": 64 * 1024 * 1024,
            }
        )
        producer.init_transactions(20)
        producer.begin_transaction()
        return producer


def numbers_of(values: Iterable[str], task: int) -> list[int]:
    """The numbers that a task of the scripted source has emitted, in order of arrival."""
    pairs = (value.split(":") for value in values)
    return [int(number) for owner, number in pairs if int(owner) == task]
