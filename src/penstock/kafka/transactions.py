"""A transactional producer with the protocol's rules about errors and order.

Order inside a transaction: data, then ``commit``: offset records last, then the offsets of the
worker's own group with its member id and generation, so that the broker rejects a worker that has
been replaced, even if it calls ``init_transactions`` again.

Errors: retriable ones are retried here, in the same call. A call that times out continues inside
the client, and is resumed as long as the brokers accept records and the transaction has not timed
out (``kafka.patience``). Everything else is raised as one of the faults of
``penstock.kafka.errors``, and the caller starts over from what is committed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import (
    DENIED,
    LOST,
    PASSING,
    REFUSED,
    AccessDenied,
    BrokerUnavailable,
    GenerationChanged,
    LeaseLost,
    OutcomeUnknown,
    RecordRefused,
    TransactionAborted,
    describe,
)
from penstock.kafka.patience import SLICE, Patience, Waiting

log = logging.getLogger(__name__)

CALL_TIMEOUT = 10.0
OFFSETS_TIMEOUT = 5.0
RETRY_PAUSE = 0.2
LOOK_UP_SECONDS = 10.0
FULL_QUEUE_PAUSE = 0.05


@dataclass(frozen=True)
class GroupOffsets:
    """Offsets to be committed to a consumer group within a transaction."""

    metadata: bytes
    offsets: Sequence[tuple[str, int, int, str]]
    """(topic, partition, offset, metadata text) of each partition."""


class Transactions:
    """One transactional producer. Not thread-safe: it belongs to one task of one lease."""

    def __init__(
        self,
        connection: Connection,
        transactional_id: str,
        patience: Patience | None = None,
        /,
        **settings: Any,
    ) -> None:
        self.transactional_id = transactional_id
        self.patience = patience or Patience()
        """The patience of the current user of this producer."""
        self._open = False
        self._aborting = False
        self._hopeless = _transaction_end()
        """When the brokers abort the open transaction, by the monotonic clock."""
        self._partitions_of: dict[str, int] = {}
        """How many partitions topics had when they were looked up."""
        self._producer: Producer = clients.transactional_producer(
            connection, transactional_id, **settings
        )
        self._resumed(self._producer.init_transactions)

    def send(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        **more: Any,
    ) -> None:
        """Add one record to the transaction, which begins with its first record."""
        self.begin()
        produce = self._producer.produce
        while True:
            try:
                produce(topic, value, key, **more)
                return
            except BufferError:
                self.make_room()
            except KafkaException as error:
                raise self.fault(error, topic) from error

    def make_room(self) -> None:
        """Wait a moment: the queue is full, as brokers accept records slower than we produce them.

        BrokerUnavailable if waiting is useless.
        """
        waiting = Waiting(self.patience, len(self._producer), self._hopeless)
        self.serve(FULL_QUEUE_PAUSE)
        if not waiting.worthwhile(len(self._producer)):
            raise self._untaken()

    def look_up(self, topic: str, partition: int) -> None:
        """Let the client know the partitions of a topic, where it may not know this one: the topic
        may have grown since it asked last. Before any record is sent: nothing waits for the answer.
        """
        if partition < self._partitions_of.get(topic, 0):
            return
        try:
            found = self._producer.list_topics(topic, LOOK_UP_SECONDS).topics[topic]
        except KafkaException as error:
            log.debug("the partitions of topic %s: %s", topic, describe(error))
        else:
            self._partitions_of[topic] = len(found.partitions)

    def drain(self) -> None:
        """Wait until the brokers have accepted all records; BrokerUnavailable if they do not.

        Group offsets go over the same connections: sent now, they would wait for these records too,
        in a call that cannot be cancelled.
        """
        waiting = Waiting(self.patience, len(self._producer), self._hopeless)
        while left := self._served(lambda: self._producer.flush(SLICE)):
            if not waiting.worthwhile(left):
                raise self._untaken()

    def serve(self, seconds: float = 0) -> None:
        """Let the client tell what has happened, for up to so long; a fault if it was fenced."""
        self._served(lambda: self._producer.poll(seconds))

    def _served(self, call: Callable[[], int]) -> int:
        try:
            return call()
        except KafkaException as error:
            raise self.fault(error) from error
        except SystemError as error:
            # With its exception set already, the client has called Python once more, to log it.
            if not isinstance(error.__cause__, KafkaException):
                raise
            raise self.fault(error.__cause__) from error

    def _untaken(self) -> Exception:
        return BrokerUnavailable(f"the brokers have not yet accepted {len(self._producer)} records")

    @property
    def raw(self) -> Producer:
        """The producer itself, for loops that cannot afford a call per record."""
        return self._producer

    def begin(self) -> None:
        """Begin a transaction if none is open; first wait for one that is being aborted."""
        if self._aborting:
            self._hopeless = _transaction_end()
            self._resumed(self._producer.abort_transaction)
            self._aborting = False
        if not self._open:
            self._resumed(lambda _: self._producer.begin_transaction())
            self._open = True
            self._hopeless = _transaction_end()

    def commit(
        self, records: Iterable[tuple[str, bytes, bytes | None]], groups: Sequence[GroupOffsets]
    ) -> None:
        """Write offset records (topic, key, value) and group offsets last, then commit all."""
        for topic, key, value in records:
            self.send(topic, value, key)
        self.begin()
        for group in groups:
            self._send_offsets(group)
        try:
            self._resumed(self._producer.commit_transaction)
        finally:
            self._open = False

    def _send_offsets(self, group: GroupOffsets) -> None:
        offsets = [TopicPartition(t, p, o, metadata=m) for t, p, o, m in group.offsets]
        self._resumed(
            lambda timeout: self._producer.send_offsets_to_transaction(
                offsets, group.metadata, timeout
            ),
            # Called again, this one does not resume: it starts over.
            OFFSETS_TIMEOUT,
        )

    def abort(self) -> None:
        """Abort the open transaction. Never raises: the next owner's fencing aborts it too."""
        if not self._open:
            return
        self._open, self._aborting = False, True
        self._hopeless = time.monotonic() + CALL_TIMEOUT
        try:
            self._resume(self._producer.abort_transaction, SLICE)
            self._aborting = False
        except KafkaException as error:
            self._aborting = error.args[0].retriable()
            log.debug("abort of %s: %s", self.transactional_id, describe(error))

    def _resumed(self, call: Callable[[float], Any], timeout: float = SLICE) -> None:
        try:
            self._resume(call, timeout)
        except KafkaException as error:
            raise self.fault(error) from error

    def _resume(self, call: Callable[[float], Any], timeout: float) -> None:
        """Repeat a call until it is done, or until that is useless."""
        waiting = Waiting(self.patience, len(self._producer), self._hopeless)
        while True:
            try:
                call(timeout)
                return
            except KafkaException as error:
                fault = error.args[0]
                if not fault.retriable() or not waiting.worthwhile(len(self._producer)):
                    raise
                if fault.code() != KafkaError._TIMED_OUT:
                    time.sleep(RETRY_PAUSE)

    def fault(self, error: KafkaException, topic: str = "") -> Exception:
        """The fault to raise for ``error``, which occurred while writing to ``topic``."""
        kafka_error = error.args[0]
        text = describe(error)
        if kafka_error.code() in LOST:
            return self._loss(kafka_error.code(), text)
        if kafka_error.code() in REFUSED:
            self.abort()
            return RecordRefused(text)
        if kafka_error.code() in DENIED:
            self.abort()
            where = f"to topic {topic} " if topic else ""
            return AccessDenied(f"write {where}as transactional id {self.transactional_id}", error)
        if kafka_error.fatal() or kafka_error.code() == KafkaError._FATAL:
            return LeaseLost(text)  # from an earlier call, or from this one
        if kafka_error.txn_requires_abort():
            self.abort()
            return TransactionAborted(text, passing=kafka_error.code() in PASSING)
        return OutcomeUnknown(text)

    def _loss(self, code: int, text: str) -> LeaseLost:
        if code != KafkaError.ILLEGAL_GENERATION:
            return LeaseLost(text)
        self.abort()
        return GenerationChanged(text)


def _transaction_end() -> float:
    """When a transaction that begins now will time out."""
    return time.monotonic() + clients.TRANSACTION_TIMEOUT_MS / 1000


def fence(connection: Connection, transactional_ids: Iterable[str]) -> None:
    """Fence these ids, aborting their open transactions: their producers can no longer commit.

    Raises a fault of ``penstock.kafka.errors`` if a broker does not answer; the outcome is unknown.
    """
    ids = list(transactional_ids)
    with ThreadPoolExecutor(max_workers=min(8, len(ids) or 1)) as pool:
        list(pool.map(lambda each: Transactions(connection, each), ids))
