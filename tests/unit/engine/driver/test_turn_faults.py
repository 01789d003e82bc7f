"""Whose fault it is that a turn's job has ended with an error."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest
from pyspark.errors import AnalysisException, PythonException

from penstock.engine.carriers.carrier import Cause
from penstock.engine.driver.turn_faults import Verdict, first_lines, judged
from penstock.engine.frames.errors import WriteError
from penstock.kafka.errors import AccessDenied, BrokerUnavailable
from penstock.kafka.range_reader import RangeGone
from penstock.sdk.errors import FatalError, UserError


def verdict(error: Exception, *, spark_lost: bool = False, lost: frozenset[str] = frozenset()):
    session = MagicMock()
    session.has_lost.return_value = spark_lost
    session.lost_executors.return_value = lost
    return judged(error, session, MagicMock(), frozenset({"1"}))


def test_errors_of_the_connector_are_its_own() -> None:
    for error in (ValueError("x"), UserError("x")):
        assert verdict(error) == Verdict(error)


def test_unreachable_brokers_and_deleted_records_are_for_the_next_plan() -> None:
    for error in (BrokerUnavailable("b"), RangeGone("r")):
        found = verdict(error)
        assert (found.error, found.cause) == (None, Cause.VANISHED)
        assert str(error) in found.detail


def test_missing_acls_fail_it() -> None:
    denied = MagicMock(spec=AccessDenied)
    denied.__class__ = AccessDenied  # type: ignore[assignment]  # a Mock
    assert verdict(denied).error is denied


def test_a_broker_that_a_stage_cannot_reach() -> None:
    text = "Traceback …\npenstock.kafka.errors.BrokerUnavailable: nothing came for 60 s\n"
    found = verdict(PythonException(text))
    assert (found.cause, found.detail) == (
        Cause.VANISHED,
        "BrokerUnavailable: nothing came for 60 s",
    )


@pytest.mark.parametrize("room", ["sdk.errors.UserError", "sql.errors.StatementError"])
def test_what_a_stage_says_to_people_is_told_without_a_traceback(room: str) -> None:
    text = f'Traceback …\n  File "x.py", line 3\npenstock.{room}: log in anew\n\n\tat java'
    found = verdict(PythonException(text))
    assert isinstance(found.error, UserError)
    assert str(found.error) == "log in anew"


def test_a_crash_and_a_lost_executor() -> None:
    crash = PythonException("Job aborted: Python worker exited unexpectedly (crashed): exit 3")
    assert verdict(crash).cause is Cause.CRASHED
    assert verdict(crash, lost=frozenset({"1", "2"})).cause is Cause.EXECUTOR_LOST
    lost = PythonException("Job aborted: ExecutorLostFailure (executor 3 exited …)")
    assert verdict(lost).cause is Cause.EXECUTOR_LOST


def test_sparks_own_death() -> None:
    assert verdict(PythonException("anything"), spark_lost=True).cause is Cause.SPARK_LOST


def explained(text: str) -> WriteError:
    """As a turn that ends in a format tells of an error of Spark's."""
    error = WriteError("/data was not written: Job aborted")
    error.__cause__ = PythonException(text)
    return error


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Job aborted: ExecutorLostFailure (executor 3 exited …)", Cause.EXECUTOR_LOST),
        ("penstock.kafka.errors.BrokerUnavailable: nothing came", Cause.VANISHED),
        ("Caused by: org.apache.kafka.common.errors.TimeoutException: Timeout", Cause.VANISHED),
        ("[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some data was deleted", Cause.VANISHED),
    ],
)
def test_what_a_turn_explains_is_judged_by_what_spark_has_said(text: str, cause: Cause) -> None:
    assert verdict(explained(text)).cause is cause
    assert verdict(explained("anything"), spark_lost=True).cause is Cause.SPARK_LOST
    other = explained("Path does not exist")
    assert verdict(other) == Verdict(other), "in the words that it has been explained in"


def test_an_error_of_a_plan_is_told_without_the_plan() -> None:
    found = verdict(AnalysisException("no column nothing;\n'Project ['nothing]\n+- Range"))
    assert isinstance(found.error, FatalError)
    assert str(found.error) == "no column nothing;"


@pytest.mark.parametrize("line", ["\tat org.apache.spark.X(X.scala:1)", "\t... 12 more"])
def test_javas_stack_is_left_out(line: str) -> None:
    assert first_lines(f"what\n{line}\nCaused by: why") == "what\nCaused by: why"
