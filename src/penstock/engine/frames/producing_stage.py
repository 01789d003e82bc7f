"""The last stage of a turn into Kafka: each task's rows in one transaction, in an executor."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.task_frame import Stage
from penstock.engine.frames.task_output import run_task
from penstock.engine.frames.whole_input import refuse_cut_input
from penstock.kafka.transactions import Transactions

RESULT = "part int, report string"
AGAIN = ""
"""The report of a re-attempt: plan again."""
Encode = Callable[[FrameReport], Any]


def producing(leases: Sequence[FrameLease], confirm: Callable[[], bool], encode: Encode) -> Stage:
    """The function that Spark calls; partition n of Spark's is that of ``leases[n]``.

    ``confirm`` asks the worker, and ``encode`` makes JSON of reports. Both travel to executors.
    """

    def stage(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None  # noqa: S101 (Spark runs this)
        part = context.partitionId()
        if context.attemptNumber() > 0:
            yield _result(part, _attempted_again(batches))
        else:
            report = run_task(
                leases[part], batches, confirm, acquire=_new_producer, whole=refuse_cut_input
            )
            yield _result(part, json.dumps(encode(report)))

    return stage


def _attempted_again(batches: Iterable[pa.RecordBatch]) -> str:
    """Rule 4: touches nothing, since the first attempt may have committed.

    It reads its input, though: whatever is wrong with that is the reason to be told.
    """
    for _ in batches:
        pass
    return AGAIN


def _new_producer(lease: FrameLease) -> Transactions:
    """Never kept: this process may not see the task again."""
    settings = lease.producer_settings
    return Transactions(lease.connection, lease.transactional_id, **settings)


def _result(part: int, report: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([part], pa.int32()), pa.array([report], pa.string())], ["part", "report"]
    )
