"""The last stage of a source's turn: in an executor, each task's rows into Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from penstock.engine.frames.last_stage import Encode, last_stage
from penstock.engine.frames.row_loop import Rows, run_rows
from penstock.engine.frames.task_frame import Stage
from penstock.engine.frames.whole_input import refuse_cut_input
from penstock.engine.lease.lease import SourceLease
from penstock.sdk.frame_sources import FrameReading

Task = tuple[SourceLease, FrameReading]


def producing_rows(tasks: Sequence[Task], confirm: Callable[[], bool], encode: Encode) -> Stage:
    """For Spark, whose partition n has the rows of ``tasks[n]``. ``confirm`` asks the worker."""

    def run(part: int, batches: Iterable[pa.RecordBatch]) -> Any:
        lease, reading = tasks[part]
        return encode(run_rows(lease, confirm, Rows(batches, reading, refuse_cut_input)))

    return last_stage(run)
