"""The last stage of a source's turn: in an executor, each task's rows into Kafka."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from penstock.engine.frames.row_loop import Rows, run_rows
from penstock.engine.frames.task_frame import Stage
from penstock.engine.frames.whole_input import refuse_cut_input
from penstock.engine.lease.lease import Report, SourceLease
from penstock.sdk.frame_sources import FrameReading

RESULT = "part int, report string"
AGAIN = ""
"""The report of a re-attempt: plan again."""
Encode = Callable[[Report], Any]
Task = tuple[SourceLease, FrameReading]


def producing_rows(tasks: Sequence[Task], confirm: Callable[[], bool], encode: Encode) -> Stage:
    """The function that Spark calls; partition n of Spark's has the rows of ``tasks[n]``.

    ``confirm`` asks the worker, and ``encode`` makes JSON of reports. Both travel to executors.
    """

    def stage(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None  # noqa: S101 (Spark runs this)
        part = context.partitionId()
        if context.attemptNumber() > 0:
            yield result(part, attempted_again(batches))
            return
        lease, reading = tasks[part]
        report = run_rows(lease, confirm, Rows(batches, reading, refuse_cut_input))
        yield result(part, json.dumps(encode(report)))

    return stage


def attempted_again(batches: Iterable[pa.RecordBatch]) -> str:
    """The report of a re-attempt, which touches nothing: the first may have committed (rule 4).

    It reads its input, though: whatever is wrong with that is the reason to be told.
    """
    for _ in batches:
        pass
    return AGAIN


def result(part: int, report: str) -> pa.RecordBatch:
    """The only row of a task."""
    return pa.RecordBatch.from_arrays(
        [pa.array([part], pa.int32()), pa.array([report], pa.string())], ["part", "report"]
    )
