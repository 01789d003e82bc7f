"""A turn: one Spark job of one connector, one partition per task, each a lease.

``Turn.run`` blocks the thread that calls it until every lease has ended. Another thread may call
``finish`` (leases commit what they have and end), ``call_off`` (nothing has begun yet, and nothing
will) or ``cancel`` (the job is killed). Cancelling is not stopping: a cancelled Python worker may
live on for seconds, so callers must fence afterwards.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from penstock.engine.driver.session import LazySession
from penstock.engine.driver.watches import HeartbeatServer, TurnWatch
from penstock.engine.lease import lease_loop
from penstock.engine.lease.lease import (
    End,
    HeartbeatAddress,
    Lease,
    Limits,
    Report,
    SinkLease,
    SourceLease,
)
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.lease.source_lease import SourceLoop

log = logging.getLogger(__name__)

RESULT = "report binary"


class TurnBroken(Exception):
    """The job ended without reports: it crashed, expired or was cancelled; see ``kind``."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class Engine:
    """Runs turns on one Spark session. Thread-safe: one turn per calling thread."""

    def __init__(self, session: LazySession, heartbeats: HeartbeatServer, limits: Limits) -> None:
        self.session = session
        self.limits = limits
        self._heartbeats = heartbeats

    @property
    def heartbeat_address(self) -> HeartbeatAddress:
        """The address to which leases report."""
        return self._heartbeats.address

    def turn(self, leases: Sequence[Lease]) -> Turn:
        """A turn of these leases, ready to run."""
        return Turn(self.session, self._heartbeats, leases, leases[0].limits)

    def stop(self) -> None:
        """End Spark and the heartbeat server."""
        self.session.stop()
        self._heartbeats.close()


class Turn:
    """One job. Used once."""

    def __init__(
        self,
        session: LazySession,
        heartbeats: HeartbeatServer,
        leases: Sequence[Lease],
        limits: Limits,
    ) -> None:
        self.turn_id = uuid.uuid4().hex
        self.leases = list(leases)
        self.watch = TurnWatch(limits)
        self._session = session
        self._spark_used: SparkSession | None = None
        self._heartbeats = heartbeats
        self._lock = threading.Lock()
        self._cancelled: str | None = None
        self._over = threading.Event()
        self._lost_before = 0

    def run(self) -> list[Report]:
        """Run the job; the reports of all its leases. TurnBroken if there are none."""
        for lease in self.leases:
            self._heartbeats.watch(lease.lease_id, self.watch)
        try:
            self._stop_if_cancelled()
            spark = self._spark()
            with self._tagged(spark):
                self._begin()
                self._lost_before = self._session.lost_executors()
                return [Report.from_bytes(row["report"]) for row in self._job(spark).collect()]
        except TurnBroken:
            raise
        except Exception as error:
            raise self._broken(error) from error
        finally:
            self._over.set()
            for lease in self.leases:
                self._heartbeats.forget(lease.lease_id)

    def lost_executor(self) -> bool:
        """Whether an executor of a Spark cluster was lost during the turn."""
        return self._session.lost_executors(wait=True) > self._lost_before

    def _spark(self) -> SparkSession:
        try:
            self._spark_used = spark = self._session.get()
        except Exception as error:
            raise TurnBroken(
                "spark lost", f"it does not start: {_first_lines(str(error))}"
            ) from error
        return spark

    def _begin(self) -> None:
        with self._lock:
            self._stop_if_cancelled()
            self.watch.begin()

    def _stop_if_cancelled(self) -> None:
        if self._cancelled:
            raise TurnBroken(self._cancelled, "before it began")

    def finish(self) -> None:
        """Ask the leases to commit what they have and end."""
        self.watch.finish()

    def wait(self, timeout: float) -> bool:
        """Whether the turn has ended within ``timeout`` seconds."""
        return self._over.wait(timeout)

    def call_off(self) -> bool:
        """Prevent its leases from running, if Spark has yet to start; whether none will run."""
        with self._lock:
            if not self.watch.begun:
                self._cancelled = "cancelled"
            return not self.watch.begun

    def cancel(self, kind: str = "cancelled") -> None:
        """Kill the job. ``kind`` says why, to the caller of ``run``."""
        self._cancelled = kind
        if (spark := self._spark_used) is not None:
            with contextlib.suppress(Exception):
                spark.sparkContext.cancelJobsWithTag(self._tag)

    @property
    def _tag(self) -> str:
        return f"penstock-{self.turn_id}"

    @contextlib.contextmanager
    def _tagged(self, spark: SparkSession) -> Iterator[None]:
        context = spark.sparkContext
        context.addJobTag(self._tag)
        # One pool per thread: Spark would never forget a pool per connector.
        context.setLocalProperty("spark.scheduler.pool", threading.current_thread().name)
        try:
            yield
        finally:
            with contextlib.suppress(Exception):
                context.removeJobTag(self._tag)

    def _job(self, spark: SparkSession) -> DataFrame:
        n = len(self.leases)
        return spark.range(0, n, 1, n).mapInArrow(_stage(self.leases), RESULT)

    def _broken(self, error: Exception) -> TurnBroken:
        if self._cancelled:
            return TurnBroken(self._cancelled, "the job was cancelled")
        if self._spark_used is not None and self._session.has_lost(self._spark_used):
            return TurnBroken("spark lost", "Spark's JVM has died")
        return TurnBroken("crashed", _first_lines(str(error)))


Stage = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _stage(leases: Sequence[Lease]) -> Stage:
    def stage(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lease = leases[_partition()]
        for _ in batches:
            pass
        yield _row(_again(lease) or _run(lease))

    return stage


def _run(lease: Lease) -> Report:
    if isinstance(lease, SinkLease):
        return lease_loop.run(lease, SinkLoop)
    assert isinstance(lease, SourceLease)  # noqa: S101 (there are two kinds)
    return lease_loop.run(lease, SourceLoop)


def _partition() -> int:
    context = TaskContext.get()
    assert context is not None  # noqa: S101 (always set inside a job)
    return context.partitionId()


def _again(lease: Lease) -> Report | None:
    """A re-attempt may follow a committed transaction, so its positions cannot be trusted."""
    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        return Report(lease.task, lease.lease_id, End.PLAN_AGAIN)
    return None


def _row(report: Report) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"report": [report.to_bytes()]})


def _first_lines(text: str) -> str:
    """Spark's message without the Java stack under it."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("\tat ")]
    return "\n".join(lines[:6])[:2000]
