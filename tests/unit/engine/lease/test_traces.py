"""What an error looks like in a status, and what it makes of its lease."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from penstock.engine.lease.lease import End
from penstock.engine.lease.traces import LIMIT, ending_of, trace_of
from penstock.kafka.errors import (
    AccessDenied,
    BrokerUnavailable,
    KafkaFault,
    LeaseLost,
    OutcomeUnknown,
    RecordRefused,
    TransactionAborted,
)
from penstock.sdk.errors import ConfigError, FatalError, RecordError, TakenOver, UserError


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001 (any error, with its traceback)
        return caught


@pytest.mark.parametrize(
    "error", [UserError("free some space"), ConfigError("no"), RecordRefused("too large")]
)
def test_errors_for_people_have_no_traceback(error: Exception) -> None:
    assert trace_of(raised(error)) == f"{type(error).__name__}: {error}"


def test_defects_keep_their_traceback_and_their_cause() -> None:
    try:
        try:
            raise KeyError("inner")
        except KeyError as cause:
            raise ValueError("outer") from cause
    except ValueError as error:
        trace = trace_of(error)
    assert "KeyError: 'inner'" in trace
    assert trace.endswith("ValueError: outer\n")
    assert "test_traces.py" in trace


def test_no_secret_is_shown() -> None:
    trace = trace_of(raised(ValueError("cannot log in as bob with hunter2")), ["hunter2", "bob"])
    assert "hunter2" not in trace
    assert "cannot log in as [hidden] with [hidden]" in trace
    assert trace_of(UserError("bad hunter2"), ["hunter2"]) == "UserError: bad [hidden]"


def test_a_secret_is_scrubbed_before_a_long_trace_is_cut() -> None:
    secret = "s3cret" * 10
    text = secret + "x" * (LIMIT - 30)
    trace = trace_of(UserError(text), [secret])
    assert len(trace) <= LIMIT
    assert "s3cret" not in trace


def test_a_long_trace_keeps_its_end() -> None:
    trace = trace_of(raised(ValueError("y" * (2 * LIMIT) + "the end")))
    assert len(trace) == LIMIT
    assert trace.endswith("the end\n")


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (LeaseLost("fenced"), End.LOST),
        (OutcomeUnknown("timed out"), End.LOST),
        (BrokerUnavailable("nobody there"), End.LOST),
        (TakenOver("a greater epoch is stored"), End.LOST),
        (TransactionAborted("moving leaders", passing=True), End.LOST),
        (TransactionAborted("not allowed", passing=False), End.FAILED),
        (RecordRefused("too large"), End.FAILED),
        (AccessDenied("read topic t", KafkaError(KafkaError._AUTHENTICATION)), End.FAILED),
        (KafkaFault("anything else"), End.FAILED),
        (FatalError("give up"), End.FAILED),
        (RecordError("row 3"), End.FAILED),
        (ValueError("a defect"), End.FAILED),
    ],
)
def test_how_a_lease_that_raised_it_has_ended(error: Exception, end: End) -> None:
    assert ending_of(error) is end
