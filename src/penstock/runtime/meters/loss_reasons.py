"""Why a lease was lost: a label for metrics, and what a user can do about it."""

from __future__ import annotations

from enum import StrEnum

from penstock.engine.carriers.carrier import Cause
from penstock.engine.lease.lease import End, Report
from penstock.kafka.errors import (
    BrokerUnavailable,
    GenerationChanged,
    KafkaFault,
    LeaseLost,
    OutcomeUnknown,
    TransactionAborted,
)


class Reason(StrEnum):
    """The classes of losses; labels of metrics, so there are only a few."""

    FENCED = "fenced"
    """Another producer has taken the transactional id."""
    REBALANCED = "rebalanced"
    """The worker's membership in its group has changed or ended."""
    OUTCOME_UNKNOWN = "outcome unknown"
    TRANSACTION_ABORTED = "transaction aborted"
    BROKER_UNAVAILABLE = "broker unavailable"
    ORPHANED = "orphaned"
    """The worker did not answer the lease, or had revoked it."""
    INTERRUPTED = "interrupted"
    """It was told to finish, or its time was over, during a retry."""
    CRASHED = "crashed"
    EXPIRED = "expired"
    SPARK_LOST = "spark lost"
    EXECUTOR_LOST = "executor lost"
    OTHER = "other"


_MEMBERSHIP = (
    "ILLEGAL_GENERATION",
    "UNKNOWN_MEMBER_ID",
    "FENCED_INSTANCE_ID",
    "REBALANCE_IN_PROGRESS",
)
"""Kafka's names of the errors for a worker that is no longer a member of its group."""

_BY_FAULT = {
    LeaseLost.__name__: Reason.FENCED,
    GenerationChanged.__name__: Reason.REBALANCED,
    OutcomeUnknown.__name__: Reason.OUTCOME_UNKNOWN,
    TransactionAborted.__name__: Reason.TRANSACTION_ABORTED,
    BrokerUnavailable.__name__: Reason.BROKER_UNAVAILABLE,
    "Orphaned": Reason.ORPHANED,
    "Interrupted": Reason.INTERRUPTED,
}

_BY_CAUSE = {
    Cause.CRASHED: Reason.CRASHED,
    Cause.SILENT: Reason.ORPHANED,
    Cause.SPARK_LOST: Reason.SPARK_LOST,
    Cause.EXECUTOR_LOST: Reason.EXECUTOR_LOST,
}

_BROKERS = "Check the brokers, their load and quotas, and the network between them and here."
_ADVICE = {
    Reason.FENCED: (
        "Another producer keeps taking this task's transactional id: look for a second cluster, or "
        "another program, that uses the same group.id."
    ),
    Reason.REBALANCED: (
        "The worker keeps losing its membership in the group: look for workers that come and go, "
        "or are too busy to answer the brokers."
    ),
    Reason.OUTCOME_UNKNOWN: _BROKERS,
    Reason.TRANSACTION_ABORTED: _BROKERS,
    Reason.BROKER_UNAVAILABLE: _BROKERS,
    Reason.ORPHANED: (
        "The task gets no answer from its worker: check whether the worker is overloaded, and "
        "whether Spark's executors can reach it."
    ),
    Reason.INTERRUPTED: (
        "The task, a conversion or a transform keeps failing with errors that it reports as "
        "retriable: check what it waits for. errors.retry.timeout limits how long conversions and "
        "transforms are tried again."
    ),
    Reason.CRASHED: "Look in the logs of the worker and of Spark for how the task's process ended.",
    Reason.EXPIRED: "The task does not return in time: check what it waits for.",
    Reason.SPARK_LOST: (
        "Check Spark's messages in the worker's log, and Spark's master and memory settings."
    ),
    Reason.EXECUTOR_LOST: "Look in the logs of Spark's master and executors for why they end.",
    Reason.OTHER: "Check the worker's log.",
}


def reason_of(trace: str) -> Reason:
    """The class of a trace that ``engine.traces.trace_of`` made from a fault."""
    name, _, text = trace.partition(": ")
    if name == LeaseLost.__name__ and text.startswith(_MEMBERSHIP):
        return Reason.REBALANCED
    if text.startswith("_FATAL"):
        # The client's only error once a producer is unusable. Being fenced makes it so.
        return Reason.FENCED
    return _BY_FAULT.get(name, Reason.OTHER)


def loss_of(report: Report) -> Reason | None:
    """Why the reported lease was lost; None if it was not."""
    return reason_of(report.trace) if report.end is End.LOST else None


def reason_for(cause: Cause | None, *, hung: bool) -> Reason | None:
    """Why a lease was lost that has not reported; None if we ended it ourselves."""
    if hung:
        return Reason.EXPIRED
    if cause in (None, Cause.CANCELLED, Cause.CONDEMNED):
        return None
    return _BY_CAUSE.get(cause, Reason.OTHER)


def advice(reason: Reason) -> str:
    """What to do about losses of this class."""
    return _ADVICE[reason]


def advice_for(error: Exception) -> str:
    """What to do about an error that keeps a connector waiting."""
    return _BROKERS if isinstance(error, KafkaFault) else _ADVICE[Reason.OTHER]
