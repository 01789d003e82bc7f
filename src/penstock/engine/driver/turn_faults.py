"""What an error that ended a turn's job means: whose fault it is, and what to do."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.engine.carriers.carrier import Cause
from penstock.engine.driver.session import LazySession
from penstock.kafka.errors import BrokerUnavailable, KafkaFault
from penstock.kafka.range_reader import RangeGone
from penstock.sdk.errors import FatalError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CRASHED = ("Python worker exited unexpectedly", "Python worker process terminated", "crashed")
LOST = ("ExecutorLostFailure", "FetchFailed", "SparkContext was shut down", "is stopped")
KAFKA = re.compile(
    r"penstock\.kafka\.(?:errors|range_reader)\.(BrokerUnavailable|RangeGone|LeaseLost): (.*)"
)
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
    text = str(error)
    if isinstance(error, KafkaFault):
        return _kafka(error)
    if _from_spark(error) and session.has_lost(spark):
        return Verdict(cause=Cause.SPARK_LOST)
    if _from_spark(error) and (found := KAFKA.search(text)):
        return _kafka(BrokerUnavailable(found[2].strip()))
    if _from_spark(error) and any(mark in text for mark in (*CRASHED, *LOST)):
        return Verdict(cause=_crash(session, lost_before, text), detail=first_lines(text))
    return Verdict(FatalError(_reason(error)) if _from_spark(error) else error)


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
    """A lost executor is nobody's fault."""
    with contextlib.suppress(Exception):
        if session.lost_executors(wait=True) - lost_before:
            return Cause.EXECUTOR_LOST
    return Cause.EXECUTOR_LOST if any(mark in text for mark in LOST) else Cause.CRASHED


def _from_spark(error: Exception) -> bool:
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
