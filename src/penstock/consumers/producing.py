"""Writes records to a topic: many at once, or all of them in one transaction."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicCollection
from confluent_kafka.admin import AclOperation, ConfigResource, ResourceType

from penstock.consumers.errors import BadInput
from penstock.consumers.topic import find_topic, no_topic
from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import (
    DENIED,
    AccessDenied,
    BrokerUnavailable,
    OutcomeUnknown,
    describe,
)

Progress = Callable[[int], None]
Compression = Literal["none", "gzip", "snappy", "lz4", "zstd"]
Headers = Sequence[tuple[str, bytes]]

TURN = 4096
"""After so many records the client is let report failures."""
DELIVERY_SECONDS = 60.0
ATOMIC_SECONDS = 300.0
COMMIT_SECONDS, COMMIT_PAUSE = 5.0, 0.2
"""How long a commit is waited for before it is asked for again, and the pause between."""
ATOMIC_PREFIX = "penstock-produce-"
QUEUE: dict[str, Any] = {}
"""Other limits of the client's queue than those of all our producers."""
OVERHEAD = 70
"""Bytes that Kafka's format adds to a batch of one record."""
_TOO_LARGE = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE})


class Outgoing(NamedTuple):
    """A record to be written, and its number for the caller (say, of a line)."""

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
        self._open = False
        self._counts: bool | None = not atomic
        """Whether what was delivered is in the topic; None if that is unknown."""
        self._failures: list[tuple[int, KafkaError]] = []
        self._producer = self._made(connection, compression)
        self.sent = 0
        """How many records were handed to the client."""

    @property
    def stored(self) -> int | None:
        """How many records are in the topic, once writing has ended in whichever way; None if
        that is not known."""
        if self._counts is None:
            return None
        return self.sent - len(self._failures) if self._counts else 0

    def write(self, records: Iterable[Outgoing], progress: Progress = lambda _: None) -> None:
        """Return when all of them are delivered; in a transaction they count with ``commit``.

        After an error what was written before stays written, unless all is one transaction: that
        is then aborted, and so it is whatever ends this call early. BadInput names the record.
        """
        if self._atomic:
            self._write_atomically(records, progress)
            return
        try:
            self._send_all(records, progress)
        finally:
            self._deliver()

    def _write_atomically(self, records: Iterable[Outgoing], progress: Progress) -> None:
        try:
            self._producer.init_transactions(topics.ADMIN_TIMEOUT)
            self._open = True
            self._producer.begin_transaction()
            self._send_all(records, progress)
            self._deliver()
        except BaseException as error:
            self.abort()
            if isinstance(error, KafkaException):
                raise self._unwritten(error) from error
            raise

    def commit(self, given_up: Callable[[], bool] = lambda: False) -> None:
        """Have the transaction count, if there is one. Must not be interrupted.

        OutcomeUnknown if no broker says whether it does, in time or until the user has
        ``given_up``; any other error says that nothing was written.
        """
        if self._open:
            self._open = False
            self._counts = None
            self._commit(given_up)
            self._counts = True

    def _commit(self, given_up: Callable[[], bool]) -> None:
        deadline = time.monotonic() + ATOMIC_SECONDS
        while True:
            try:
                self._producer.commit_transaction(COMMIT_SECONDS)
            except KafkaException as error:
                fault = error.args[0]
                if fault.txn_requires_abort() or fault.code() in DENIED:
                    self._roll_back()
                    raise self._unwritten(error) from error
                if not fault.retriable() or given_up() or time.monotonic() > deadline:
                    raise self._undecided(error) from error
                time.sleep(COMMIT_PAUSE)
            else:
                return

    def _unwritten(self, error: KafkaException) -> Exception:
        return _fault(f"write to topic {self._topic}", error.args[0])

    def _undecided(self, error: KafkaException) -> OutcomeUnknown:
        return OutcomeUnknown(
            f'it is unknown whether the records sent to topic "{self._topic}" were written: either '
            f"all were, or none ({describe(error)}). Look at the topic before you send them again."
        )

    def abort(self) -> None:
        """End a transaction that is open; nothing of it counts."""
        if self._open:
            self._open = False
            self._roll_back()

    def _roll_back(self) -> None:
        """If the brokers do not hear of it, they do the same when its time is over."""
        self._counts = False
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
