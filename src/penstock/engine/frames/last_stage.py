"""What the last stages of turns have in common: rule 4, and a report from each task."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyspark import TaskContext

from penstock.engine.frames.task_frame import Stage
from penstock.engine.lease.lease import End, Lease, Report

RESULT = "part int, report string"
AGAIN = ""
"""The report of a re-attempt: plan again."""
REPEATED = "LeaseLost: Spark has tried the task again; what its first try has committed is read"

R = TypeVar("R", bound=Report)
Encode = Callable[[Any], Any]
"""Makes JSON of a report."""
Decode = Callable[[Any], R]
Run = Callable[[int, Iterable[pa.RecordBatch]], Any]
"""Does the work of a task with its number and its input, and returns the report, encoded."""


def last_stage(run: Run) -> Stage:
    """The function that Spark calls. What ``run`` refers to travels to executors."""

    def stage(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None  # noqa: S101 (Spark runs this)
        part = context.partitionId()
        if context.attemptNumber() > 0:
            yield _result(part, _attempted_again(batches))
        else:
            yield _result(part, json.dumps(run(part, batches)))

    return stage


def _attempted_again(batches: Iterable[pa.RecordBatch]) -> str:
    """Rule 4: touches nothing, since the first attempt may have committed.

    It reads its input, though: whatever is wrong with that is the reason to be told.
    """
    for _ in batches:
        pass
    return AGAIN


def _result(part: int, report: str) -> pa.RecordBatch:
    """The only row of a task."""
    return pa.RecordBatch.from_arrays(
        [pa.array([part], pa.int32()), pa.array([report], pa.string())], ["part", "report"]
    )


def reports(
    rows: Iterable[Any], leases: Sequence[Lease], kind: type[R], decode: Decode[R]
) -> Iterator[R]:
    """What the tasks have reported; task n of Spark's is that of ``leases[n]``."""
    for row in rows:
        lease = leases[row["part"]]
        if row["report"] == AGAIN:
            yield kind(lease.task, lease.lease_id, End.LOST, trace=REPEATED)
        else:
            yield decode(json.loads(row["report"]))
