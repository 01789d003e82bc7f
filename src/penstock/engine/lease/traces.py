"""The text of an error in a status: enough to act on, and never a secret."""

from __future__ import annotations

import traceback
from collections.abc import Iterable

from penstock.engine.lease.lease import End
from penstock.kafka.errors import (
    BrokerUnavailable,
    KafkaFault,
    LeaseLost,
    OutcomeUnknown,
    TransactionAborted,
)
from penstock.logs.secrets import scrub
from penstock.sdk.errors import PenstockError, TakenOver

LIMIT = 8000


def trace_of(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """The text of ``error`` for users: only the message for errors written for users."""
    if isinstance(error, PenstockError | KafkaFault):
        text = f"{type(error).__name__}: {error}"
    else:
        text = "".join(traceback.format_exception(error))
    return scrub(text, secrets)[-LIMIT:]


def ending_of(error: BaseException) -> End:
    """How a lease that raised ``error`` has ended.

    Being replaced or not knowing an outcome is not a failure: the worker plans again.
    """
    if isinstance(error, LeaseLost | OutcomeUnknown | BrokerUnavailable | TakenOver):
        return End.LOST
    if isinstance(error, TransactionAborted) and error.passing:
        return End.LOST
    return End.FAILED
