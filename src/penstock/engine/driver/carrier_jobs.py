"""The Spark job of one carrier: a single partition, on a thread of the driver that waits for it.

Cancelling is not stopping: the Python worker of a cancelled job may live on for seconds. It is
told to end as soon as it tries to reach its worker.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
from collections.abc import Callable

from pyspark.sql import SparkSession

from penstock.engine.carriers.carrier import Cause
from penstock.engine.carriers.carrying import AGAIN, RESULT, stage
from penstock.engine.carriers.process import Summons
from penstock.engine.driver.session import LazySession

log = logging.getLogger(__name__)

POOL = "carriers"

Ended = Callable[[Cause, str], None]


class CarrierJob:
    """Runs one carrier. ``ended`` is called once, on the thread of the job."""

    def __init__(
        self, session: LazySession, summons: Summons, description: str, ended: Ended
    ) -> None:
        self._session = session
        self._summons = summons
        self._description = description
        self._ended = ended
        self._tag = f"penstock-{uuid.uuid4().hex}"
        self._spark: SparkSession | None = None
        self._cancelled = threading.Event()
        self._lost_before: frozenset[str] = frozenset()
        threading.Thread(target=self._run, name="carrier-job", daemon=True).start()

    def cancel(self) -> None:
        """End it by force. May be called more than once."""
        self._cancelled.set()
        if (spark := self._spark) is not None:
            with contextlib.suppress(Exception):
                spark.sparkContext.cancelJobsWithTag(self._tag)

    def _run(self) -> None:
        try:
            cause, detail = self._outcome()
        except Exception as error:  # noqa: BLE001 (Spark raises anything)
            cause, detail = self._broken(error)
        self._ended(cause, detail)

    def _outcome(self) -> tuple[Cause, str]:
        try:
            self._spark = spark = self._session.get()
        except Exception as error:  # noqa: BLE001 (whatever keeps it from starting)
            return Cause.SPARK_LOST, f"it does not start: {_first_lines(str(error))}"
        if self._cancelled.is_set():
            return Cause.CANCELLED, ""
        self._lost_before = self._session.lost_executors()
        if self._collected(spark) == AGAIN:
            return self._blamed("its first attempt ended abruptly")
        return (Cause.CANCELLED if self._cancelled.is_set() else Cause.ENDED), ""

    def _collected(self, spark: SparkSession) -> str:
        context = spark.sparkContext
        context.addJobTag(self._tag)
        context.setLocalProperty("spark.scheduler.pool", POOL)
        context.setJobDescription(self._description)
        if self._cancelled.is_set():  # in case that came before the tag
            return AGAIN
        rows = spark.range(0, 1, 1, 1).mapInArrow(stage(self._summons), RESULT).collect()
        return str(rows[0]["outcome"])

    def _broken(self, error: Exception) -> tuple[Cause, str]:
        if self._cancelled.is_set():
            return Cause.CANCELLED, ""
        if self._spark is not None and self._session.has_lost(self._spark):
            return Cause.SPARK_LOST, ""
        return self._blamed(_first_lines(str(error)))

    def _blamed(self, detail: str) -> tuple[Cause, str]:
        """A lost executor is no task's fault."""
        if self._cancelled.is_set():
            return Cause.CANCELLED, ""
        with contextlib.suppress(Exception):
            if self._session.lost_executors(wait=True) - self._lost_before:
                return Cause.EXECUTOR_LOST, detail
        return Cause.CRASHED, detail


def _first_lines(text: str) -> str:
    """Spark's message without the Java stack under it."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("\tat ")]
    return "\n".join(lines[:6])[:2000]
