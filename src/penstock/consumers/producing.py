"""Writes records to a topic: many at once, or all of them in one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicCollection
from confluent_kafka.admin import AclOperation, ConfigResource, ResourceType

from penstock.consumers.errors import BadInput
from penstock.consumers.starting import find_topic, no_topic
from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import DENIED, AccessDenied, BrokerUnavailable, describe

Progress = Callable[[int], None]
Compression = Literal["none", "gzip", "snappy", "lz4", "zstd"]
Headers = Sequence[tuple[str, bytes]]

TURN = 4096
"""After so many records the client is let report failures."""
DELIVERY_SECONDS = 60.0
ATOMIC_SECONDS = 300.0
ATOMIC_PREFIX = "penstock-produce-"
QUEUE: dict[str, Any] = {}
"""Other limits of the client's queue than those of all our producers."""
OVERHEAD = 70
"""Bytes that Kafka's format adds to a batch of one record."""
_TOO_LARGE = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE})


class Outgoing(NamedTuple):
    """A record to be written, and which it is for whoever gave it (say, the number of a line)."""

    value: bytes | None
    key: bytes | None = None
    number: int = 0


class TopicWriter:
    """Writes to one topic. Belongs to one thread.

    NoSuchTopic, also of a partition that is not there: topics are never created in passing.
    """

    def __init__(
        self,
        connection: Connection,
        topic: str,
        *,
        partition: int | None = None,
        headers: Headers = (),
        compression: Compression = "none",
        atomic: bool = False,
        unit: str = "record",
    ) -> None:
        """``unit`` is what errors call a record."""
        admin = clients.admin(connection)
        find_topic(admin, topic, () if partition is None else [partition])
        _refuse_unless_writable(admin, topic)
        self._topic = topic
        self._atomic = atomic
        self._unit = unit
        self._largest = _largest(admin, topic)
        self._compressed = compression != "none"
        self._fixed: dict[str, Any] = {}
        if partition is not None:
            self._fixed["partition"] = partition
        if headers:
            self._fixed["headers"] = list(headers)
        self._aborted = False
        self._failures: list[tuple[int, KafkaError]] = []
        self._producer = self._made(connection, compression)
        self.sent = 0
        """How many records were handed to the client."""

    @property
    def stored(self) -> int:
        """How many records are in the topic, once ``write`` has ended, in whichever way."""
        return 0 if self._aborted else self.sent - len(self._failures)

    def write(self, records: Iterable[Outgoing], progress: Progress = lambda _: None) -> int:
        """Write all of them and return how many when they are stored.

        After an error what was written before stays written, unless all is one transaction: that
        is then aborted, and so it is whatever ends this call early. BadInput names the record.
        """
        if self._atomic:
            return self._write_atomically(records, progress)
        try:
            self._send_all(records, progress)
        finally:
            self._deliver()
        return self.sent

    def _write_atomically(
        self, records: Iterable[Outgoing], progress: Callable[[int], None]
    ) -> int:
        producer = self._producer
        try:
            producer.init_transactions(topics.ADMIN_TIMEOUT)
            producer.begin_transaction()
        except KafkaException as error:
            raise _fault(f"write to topic {self._topic}", error.args[0]) from error
        try:
            self._send_all(records, progress)
            self._deliver()
            producer.commit_transaction(ATOMIC_SECONDS)
        except KafkaException as error:
            self._abort()
            raise _fault(f"write to topic {self._topic}", error.args[0]) from error
        except BaseException:
            self._abort()
            raise
        return self.sent

    def _abort(self) -> None:
        """If the brokers do not hear of it, they do the same when its time is over."""
        self._aborted = True
        try:
            self._producer.purge()
            self._producer.abort_transaction(topics.ADMIN_TIMEOUT)
        except KafkaException:
            pass

    def _send_all(self, records: Iterable[Outgoing], progress: Progress) -> None:
        send, poll = self._send, self._producer.poll
        for record in records:
            send(record)
            self.sent += 1
            if not self.sent % TURN:
                poll(0)
                self._raise_failure()
                progress(self.sent)
        progress(self.sent)

    def _send(self, record: Outgoing) -> None:
        value, key = record.value, record.key
        if not self._compressed and len(value or b"") + len(key or b"") > self._largest:
            raise self._too_large(record.number, len(value or b""))
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    value,
                    key,
                    on_delivery=partial(self._reported, record.number),
                    **self._fixed,
                )
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                raise self._refused(record.number, error.args[0]) from error
            else:
                return

    def _deliver(self) -> None:
        """Return when everything is stored; else the first failure, by its number."""
        unsent = self._producer.flush(DELIVERY_SECONDS + 5)
        self._raise_failure()
        if unsent:
            raise BrokerUnavailable(f"{unsent} records were not taken within {DELIVERY_SECONDS} s")

    def _reported(self, number: int, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failures.append((number, error))

    def _raise_failure(self) -> None:
        if self._failures:
            raise self._refused(*min(self._failures, key=lambda failure: failure[0]))

    def _refused(self, number: int, error: KafkaError) -> Exception:
        if error.code() in _TOO_LARGE:
            return self._too_large(number)
        return _fault(f"write to topic {self._topic}", error)

    def _too_large(self, number: int, size: int | None = None) -> BadInput:
        has = "is too large" if size is None else f"has {size:,} bytes"
        return BadInput(
            f'{self._unit} {number} {has}: topic "{self._topic}" takes at most '
            f"{self._largest:,} bytes. "
            f"`penstock topic update {self._topic} --config max.message.bytes=N` allows more."
        )

    def _made(self, connection: Connection, compression: Compression) -> Producer:
        settings: dict[str, Any] = {
            "compression.type": compression,
            "delivery.report.only.error": True,
            "message.timeout.ms": int(DELIVERY_SECONDS * 1000),
            "batch.size": min(1_000_000, self._largest),
            **QUEUE,
        }
        if not self._atomic:
            return clients.producer(connection, **settings)
        settings["transaction.timeout.ms"] = int(ATOMIC_SECONDS * 1000)
        own = f"{ATOMIC_PREFIX}{uuid.uuid4().hex}"
        return clients.transactional_producer(connection, own, **settings)


def _refuse_unless_writable(admin: GroupAdmin, topic: str) -> None:
    """Asked first: denied, an idempotent producer of confluent-kafka breaks down without a word."""
    asked = admin.describe_topics(
        TopicCollection([topic]),
        include_authorized_operations=True,
        request_timeout=topics.ADMIN_TIMEOUT,
    )
    try:
        allowed = asked[topic].result(topics.ADMIN_TIMEOUT + 5).authorized_operations
    except KafkaException as error:
        raise no_topic(topic, error) from error
    if allowed and AclOperation.WRITE not in allowed:
        denied = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
        raise AccessDenied(f"write to topic {topic}", denied)


def _largest(admin: GroupAdmin, topic: str) -> int:
    """How many bytes a record of the topic may have; a guess where that is not told to us."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    try:
        found = admin.describe_configs([resource])[resource].result(topics.ADMIN_TIMEOUT)
        return max(1, int(found["max.message.bytes"].value or 0) - OVERHEAD)
    except (KafkaException, TimeoutError):
        return clients.MAX_MESSAGE_BYTES


def _fault(what: str, error: KafkaError) -> Exception:
    if error.code() == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        return AccessDenied(f"write as transactional id {ATOMIC_PREFIX}...", error)
    if error.code() in DENIED:
        return AccessDenied(what, error)
    return BrokerUnavailable(f"cannot {what}: {describe(error)}")
