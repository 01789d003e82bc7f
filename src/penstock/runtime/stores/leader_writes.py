"""What the leader writes: transactions of its own id, and what became of those that went wrong.

A new leader fences the former one, so that a thawed worker that is no longer the leader cannot
write. Where Kafka does not say whether it accepted a transaction, the topic does as soon as that
transaction has ended.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, Message

from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.errors import (
    BrokerUnavailable,
    KafkaFault,
    LeaseLost,
    OutcomeUnknown,
    RecordRefused,
    TransactionAborted,
)
from penstock.kafka.names import leader_transactional_id
from penstock.kafka.patience import Patience
from penstock.kafka.transactions import Transactions
from penstock.runtime.errors import (
    NO_LEADER,
    BadRequest,
    Conflict,
    InternalError,
    RequestError,
)

REPORT_ALL: dict[str, Any] = {"delivery.report.only.error": False}
CHANGE_SECONDS = 60.0
"""How long a change is tried: clients wait for 90 s."""
STALLED_SECONDS = 30.0
"""Seconds for which brokers may accept nothing before a transaction is given up, as in leases."""
REMEMBERED = 10_000
"""Records of the topic that are remembered, to tell whether a transaction is there."""
PASSING_FAULTS = (OutcomeUnknown, TransactionAborted, BrokerUnavailable)

Record = tuple[str, bytes, bytes | None] | tuple[str, bytes, bytes | None, int]
"""Topic, key, value and, unless the key decides it, partition."""
Place = tuple[int, int]
"""Partition and offset."""


@dataclass(frozen=True)
class Failure:
    """A transaction that went wrong."""

    fault: KafkaFault
    delivered: Place | None
    """Its last record in the config topic, as far as the brokers have acknowledged any."""


class LeaderWrites:
    """Writes to the config topic, and with it to others. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        group_id: str,
        log: CompactedLog,
        unable: Callable[[], object],
    ) -> None:
        """``unable`` is called when a write has failed, so that no other is accepted before
        ``lead``; the store that reads the records of ``log`` calls ``took`` with each."""
        self._connection = connection
        self._id = leader_transactional_id(group_id)
        self._log = log
        self._unable = unable
        self._writing = threading.Lock()
        self._able = threading.Condition()
        self._producer: Transactions | None = None
        self._term: object | None = None
        """From becoming the leader to ``resign``; the same after a write that has failed."""
        self._written: dict[str, Place] = {}
        self._delivered: Place | None = None
        self._taken: deque[Place] = deque(maxlen=REMEMBERED)

    def lead(self) -> None:
        """Become the only writer, or become it again: fence the previous one."""
        with self._writing:
            patience = Patience(STALLED_SECONDS)
            producer = Transactions(self._connection, self._id, patience, **REPORT_ALL)
            with self._able:
                self._producer, self._term = producer, self._term or object()
                self._able.notify_all()

    def resign(self) -> None:
        """Accept no more writes: this worker does not lead any more."""
        with self._able:
            self._producer = self._term = None
            self._able.notify_all()

    def leads(self) -> bool:
        """Whether a write would be accepted."""
        return self._producer is not None

    def took(self, record: LogRecord) -> None:
        """The topic has this record."""
        self._taken.append((record.partition, record.offset))

    def write(self, records: Sequence[Record]) -> None:
        """Write these, all or nothing; returns once they are read back. RequestError if they were
        not written, or if Kafka does not say."""
        if (failure := self._attempt(records, self._term)) is not None:
            raise _answer(failure.fault) from failure.fault
        self.read_back(self._log)

    def change(self, records: Sequence[Record]) -> None:
        """The same, for a caller that waits for it: as often as it takes while this worker leads.

        Not for the thread that makes this worker the leader again.
        """
        term, deadline = self._term, time.monotonic() + CHANGE_SECONDS
        while True:
            self._await_ability(term, deadline)
            failure = self._attempt(records, term)
            if failure is None or self._was_made(failure, deadline):
                return self.read_back(self._log)
            fault = failure.fault
            hopeless = not isinstance(fault, PASSING_FAULTS) or self._term is not term
            if hopeless or time.monotonic() > deadline:
                raise _answer(fault, known=True) from fault

    def read_back(self, log: CompactedLog) -> None:
        """Return once ``log`` has read what was last written to it here.

        Its offset is known, so there is no need to wait for the end of the topic.
        """
        written = self._written.get(log.topic)
        if written is None:
            log.read_to_end()
        else:
            log.read_past(*written)

    def _await_ability(self, term: object | None, deadline: float) -> None:
        """After a write that has failed, this worker takes over again, if it still leads."""
        with self._able:
            self._able.wait_for(
                lambda: self._producer is not None or term is None or self._term is not term,
                max(0.0, deadline - time.monotonic()),
            )

    def _attempt(self, records: Sequence[Record], term: object | None) -> Failure | None:
        """None if all is committed.

        Another leader may have changed the same between two terms of this worker: what was
        decided in the former must not be written in the latter.
        """
        with self._writing:
            producer = self._producer
            if producer is None or self._term is not term:
                raise Conflict(NO_LEADER)
            try:
                self._commit(producer, records)
            except RecordRefused as error:  # the producer can still be used
                raise BadRequest(_advice(self._log.topic, error)) from error
            except KafkaFault as error:
                self._producer = None
                self._unable()
                return Failure(error, self._delivered)
            return None

    def _commit(self, producer: Transactions, records: Sequence[Record]) -> None:
        try:
            self._try_to_commit(producer, records)
        except TransactionAborted:  # nothing was written, as after a rejected record
            self._try_to_commit(producer, records)

    def _try_to_commit(self, producer: Transactions, records: Sequence[Record]) -> None:
        self._delivered = None
        for topic, key, value, *place in records:
            chosen = {"partition": place[0]} if place else {}
            producer.send(topic, value, key, on_delivery=self._note_delivered, **chosen)
        producer.commit([], [])

    def _note_delivered(self, error: KafkaError | None, message: Message) -> None:
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if error is None and topic is not None and partition is not None and offset is not None:
            self._written[topic] = partition, offset
            if topic == self._log.topic:
                self._delivered = partition, offset

    def _was_made(self, failure: Failure, deadline: float) -> bool:
        """Whether the topic has the records, which shows when their transaction has ended.

        A transaction of which nothing was delivered was not committed either. InternalError if
        it does not show in time.
        """
        place = failure.delivered
        if not isinstance(failure.fault, OutcomeUnknown) or place is None:
            return False
        try:
            self._log.read_past(*place, max(0.0, deadline - time.monotonic()))
        except KafkaFault as error:
            raise _answer(failure.fault) from error
        return place in self._taken


def _advice(topic: str, reason: RecordRefused) -> str:
    return (
        f"Kafka rejects this change ({reason}); nothing was changed. If it is too large for "
        f"topic {topic}, make it smaller, or raise max.message.bytes of that topic."
    )


def _answer(error: KafkaFault, *, known: bool = False) -> RequestError:
    """The error for a change that was not accepted, or whose outcome is not ``known``."""
    if isinstance(error, LeaseLost):
        return Conflict(
            "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
        )
    if isinstance(error, OutcomeUnknown) and not known:
        return InternalError(
            f"Kafka did not say whether it accepted the change ({error}). Check that before you "
            "try again."
        )
    return InternalError(f"Kafka did not accept the change: {error}")
