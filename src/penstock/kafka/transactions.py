"""A transactional producer with the protocol's rules about errors and order.

Order inside a transaction: data, then ``commit``: offset records last, then the offsets of the
worker's own group under its membership, so that the broker refuses a worker that has been
replaced, whatever it re-initialises.

Errors: retriable ones are retried here, in the same call. Everything else comes out as one of the
faults of ``penstock.kafka.errors`` and the caller starts over from what is committed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException, Producer, TopicPartition

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import (
    DENIED,
    LOST,
    PASSING,
    REFUSED,
    AccessDenied,
    LeaseLost,
    OutcomeUnknown,
    RecordRefused,
    TransactionAborted,
    describe,
)

log = logging.getLogger(__name__)

CALL_TIMEOUT = 10.0
RETRY_PAUSE = 0.2


@dataclass(frozen=True)
class GroupOffsets:
    """Offsets to be committed to a consumer group within a transaction."""

    metadata: bytes
    offsets: Sequence[tuple[str, int, int, str]]
    """(topic, partition, offset, metadata text) of each partition."""


class Transactions:
    """One transactional producer. Not thread-safe: it belongs to one task of one lease."""

    def __init__(self, connection: Connection, transactional_id: str, **settings: Any) -> None:
        self.transactional_id = transactional_id
        self._open = False
        self._producer: Producer = clients.transactional_producer(
            connection, transactional_id, **settings
        )
        self._call(self._producer.init_transactions)

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
                # A full queue is waited out: the broker takes records slower than we make them.
                self._producer.poll(0.05)
            except KafkaException as error:
                raise self.fault(error, topic) from error

    @property
    def raw(self) -> Producer:
        """The producer itself, for loops that cannot afford a call per record."""
        return self._producer

    def begin(self) -> None:
        """Begin a transaction if none is open."""
        if not self._open:
            self._call(self._producer.begin_transaction, timed=False)
            self._open = True

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
            self._call(self._producer.commit_transaction)
        finally:
            self._open = False

    def _send_offsets(self, group: GroupOffsets) -> None:
        offsets = [TopicPartition(t, p, o, metadata=m) for t, p, o, m in group.offsets]
        self._call(
            lambda timeout: self._producer.send_offsets_to_transaction(
                offsets, group.metadata, timeout
            )
        )

    def abort(self) -> None:
        """Roll back what is open. Never raises: the next owner's fencing does the same."""
        if not self._open:
            return
        self._open = False
        try:
            self._producer.abort_transaction(CALL_TIMEOUT)
        except KafkaException as error:
            log.debug("abort of %s: %s", self.transactional_id, describe(error))

    def _call(self, call: Callable[..., Any], *, timed: bool = True) -> None:
        deadline = time.monotonic() + CALL_TIMEOUT
        while True:
            try:
                call(CALL_TIMEOUT) if timed else call()
                return
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise self.fault(error) from error
                time.sleep(RETRY_PAUSE)

    def fault(self, error: KafkaException, topic: str = "") -> Exception:
        """The fault that ``error``, of writing to ``topic``, means for this producer's owner."""
        kafka_error = error.args[0]
        text = describe(error)
        if kafka_error.code() in LOST:
            return LeaseLost(text)
        if kafka_error.code() in REFUSED:
            self.abort()
            return RecordRefused(text)
        if kafka_error.code() in DENIED:
            self.abort()
            where = f"to topic {topic} " if topic else ""
            return AccessDenied(f"write {where}as transactional id {self.transactional_id}", error)
        if kafka_error.fatal():
            return LeaseLost(text)
        if kafka_error.txn_requires_abort():
            self.abort()
            return TransactionAborted(text, passing=kafka_error.code() in PASSING)
        return OutcomeUnknown(text)


def fence(connection: Connection, transactional_ids: Iterable[str]) -> None:
    """Abort and fence whatever these ids have open: nothing of theirs can commit any more.

    Raises a fault of ``penstock.kafka.errors`` if a broker does not answer; then nothing is known.
    """
    ids = list(transactional_ids)
    with ThreadPoolExecutor(max_workers=min(8, len(ids) or 1)) as pool:
        list(pool.map(lambda each: Transactions(connection, each), ids))
