"""Kafka's errors, sorted by what the caller has to do.

KafkaFault
├── LeaseLost        another producer or worker has taken over: recover by rule 1
│   └── GenerationChanged   only the group has a new generation: a lease may go on with it
├── OutcomeUnknown   a commit may or may not have happened: recover by rule 1
├── TransactionAborted   nothing was written: begin a new transaction
├── RecordRefused    this record can never be written; the message says why
├── AccessDenied     the brokers' ACLs forbid it: retrying is useless until they are changed
└── BrokerUnavailable    no broker answered in time; try again later
"""

from __future__ import annotations

from typing import ClassVar

from confluent_kafka import KafkaError, KafkaException

LOST = frozenset(
    {
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError._FENCED,
        KafkaError.INVALID_PRODUCER_ID_MAPPING,
        KafkaError.REBALANCE_IN_PROGRESS,
    }
)
"""What the broker answers to a producer or a group member that has been replaced."""

REFUSED = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.INVALID_MSG_SIZE,
        KafkaError.INVALID_MSG,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError.TOPIC_EXCEPTION,
    }
)


DENIED = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    }
)
"""What brokers with an authorizer answer if no ACL allows the request."""

LEADERLESS = frozenset(
    {
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError._NOENT,
    }
)
"""Errors of a partition that was just created, or just lost its leader."""

PASSING = LEADERLESS | frozenset(
    {
        KafkaError._TIMED_OUT,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._STATE,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_COORDINATOR,
        KafkaError.CONCURRENT_TRANSACTIONS,
        KafkaError.REQUEST_TIMED_OUT,
    }
)
"""Errors of a cluster that is starting, moving leaders or unreachable."""


class KafkaFault(Exception):
    """Base of the errors of this room."""

    next_step: ClassVar[str] = ""
    """A sentence that says what to do about it, where the text itself does not."""


class LeaseLost(KafkaFault):
    """This producer or this worker's membership is no longer the current one."""


class GenerationChanged(LeaseLost):
    """The membership in the transaction is of an earlier generation; the transaction was aborted.

    The producer itself is as good as before.
    """


class OutcomeUnknown(KafkaFault):
    """The broker did not say whether the transaction was committed."""


class TransactionAborted(KafkaFault):
    """The transaction was rolled back and may be tried again.

    ``passing`` says that the cause is the cluster's current state, not what was sent.
    """

    def __init__(self, message: str, *, passing: bool = True) -> None:
        super().__init__(message)
        self.passing = passing


class RecordRefused(KafkaFault):
    """The broker or the client will never accept this record."""


class AccessDenied(KafkaFault):
    """No ACL allows our principal to do ``what``."""

    def __init__(self, what: str, error: KafkaError | KafkaException) -> None:
        super().__init__(
            f"Not allowed to {what} ({describe(error)}). Give the principal the ACLs that "
            "SECURITY.md lists, and restart what has failed."
        )


def reading_denied(topic: str, group: str, error: KafkaError) -> AccessDenied:
    """What a reader is not allowed to do: read the topic, or use the group that it names."""
    if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
        return AccessDenied(f"use group {group}", error)
    return AccessDenied(f"read topic {topic}", error)


def is_denied(error: KafkaException) -> bool:
    """Whether an ACL is missing."""
    return error.args[0].code() in DENIED


class BrokerUnavailable(KafkaFault):
    """No broker answered in time."""

    next_step = (
        "`penstock doctor --bootstrap-servers HOST:PORT` says which brokers answer, and how."
    )


def describe(error: KafkaError | KafkaException) -> str:
    """One line for a person: Kafka's name of the error and its text."""
    kafka_error = error.args[0] if isinstance(error, KafkaException) else error
    return f"{kafka_error.name()}: {kafka_error.str()}"
