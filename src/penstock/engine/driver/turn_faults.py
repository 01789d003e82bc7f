"""What an error that ended a turn's job means: whose fault it is, and what to do."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.engine.carriers.carrier import Cause
from penstock.engine.driver.session import LazySession
from penstock.engine.frames.errors import FrameError
from penstock.kafka.errors import BrokerUnavailable, KafkaFault
from penstock.kafka.range_reader import RangeGone
from penstock.sdk.errors import FatalError, RetriableError, UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CRASHED = ("Python worker exited unexpectedly", "Python worker process terminated", "crashed")
LOST = ("ExecutorLostFailure", "FetchFailed", "SparkContext was shut down", "is stopped")
KAFKA = re.compile(
    r"penstock\.kafka\.(?:errors|range_reader)\.(BrokerUnavailable|RangeGone|LeaseLost): (.*)"
)
FOR_PEOPLE = re.compile(r"penstock\.\w+\.errors\.(?:UserError|ConfigError|StatementError): (.*)")
"""What a stage says that a person can fix, at the end of a traceback of Python's."""
JAVAS_KAFKA = re.compile(
    r"(org\.apache\.kafka\.common\.errors\.TimeoutException: |\[KAFKA_DATA_LOSS\S* )(.*)"
)
"""What Spark's own source says of brokers that do not answer, and of records that were deleted."""
MOST_LINES, MOST_TEXT = 30, 4000


@dataclass(frozen=True)
class Verdict:
    """An error of the connector, or a loss that trying again may get over."""

    error: Exception | None = None
    cause: Cause | None = None
    detail: str = ""


def judged(
    error: Exception, session: LazySession, spark: SparkSession, lost_before: frozenset[str]
) -> Verdict:
    """What to do about ``error``; ``lost_before`` are executors that were lost before the turn."""
    if isinstance(error, KafkaFault):
        return _kafka(error)
    if isinstance(error, RetriableError):
        return Verdict(cause=Cause.VANISHED, detail=str(error))
    if (sparks := _of_spark(error)) is None:
        return Verdict(error)
    if session.has_lost(spark):
        return Verdict(cause=Cause.SPARK_LOST)
    refused = Verdict(FatalError(_reason(error)) if sparks is error else error)
    return _of_a_stage(str(sparks), session, lost_before) or refused


def _of_a_stage(text: str, session: LazySession, lost_before: frozenset[str]) -> Verdict | None:
    """What Spark passes on of a stage that has failed; None if its plan was refused."""
    if told := unavailable(text):
        return _kafka(BrokerUnavailable(told))
    if told := for_people(text):
        return Verdict(UserError(told))
    if any(mark in text for mark in (*CRASHED, *LOST)):
        return Verdict(cause=_crash(session, lost_before, text), detail=first_lines(text))
    return None


def _of_spark(error: Exception) -> BaseException | None:
    """Spark's own error: this one, or what it explains."""
    explained = error.__cause__ if isinstance(error, FrameError) else error
    return explained if _from_spark(explained) else None


def unavailable(text: str) -> str:
    """What a stage could not reach, or find any more; empty if it was not that."""
    found = KAFKA.search(text) or JAVAS_KAFKA.search(text)
    return found[2].strip() if found else ""


def for_people(text: str) -> str:
    """What a stage of Python has said for people to read; empty if it is a defect."""
    found = FOR_PEOPLE.search(text)
    return found[1].strip() if found else ""


def _reason(error: Exception) -> str:
    """Of a plan that Spark refuses, the first line; the plan itself follows."""
    from pyspark.errors import AnalysisException

    lines = first_lines(str(error))
    return lines.splitlines()[0] if isinstance(error, AnalysisException) else lines


def _kafka(error: KafkaFault) -> Verdict:
    """Unreachable brokers, and records that were just deleted, are found by the next plan."""
    if isinstance(error, BrokerUnavailable | RangeGone):
        return Verdict(cause=Cause.VANISHED, detail=f"{type(error).__name__}: {error}")
    return Verdict(error)


def _crash(session: LazySession, lost_before: frozenset[str], text: str) -> Cause:
    """A lost executor is no task's fault."""
    with contextlib.suppress(Exception):
        if session.lost_executors(wait=True) - lost_before:
            return Cause.EXECUTOR_LOST
    return Cause.EXECUTOR_LOST if any(mark in text for mark in LOST) else Cause.CRASHED


def _from_spark(error: BaseException | None) -> bool:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException | Py4JError)


def first_lines(text: str) -> str:
    """Spark's message without the Java stack under it."""
    lines = [
        line
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith(("at ", "JVM stacktrace", "... "))
    ]
    return "\n".join(lines[:MOST_LINES])[:MOST_TEXT]
