"""One object of the object sink, without a worker."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.plugins.objects.sink_task import ObjectSinkTask
from penstock.sdk import Assignment, Assignments, record_batch

T = ("t", 0)


def flushed_twice(config: dict[str, str], rows: int = 2, width: int = 1) -> Any:
    """What a task does that has one whole object; the second flush writes it."""
    task = ObjectSinkTask()
    task.start({**config, "file.max.records": str(rows), "file.compression.type": "none"})
    try:
        task.open(Assignments([Assignment(*T, 0, "")], [], 1))
        task.put(
            record_batch(
                "t",
                pa.array(["x" * width] * rows),
                partition=pa.array([0] * rows, pa.int32()),
                timestamp=pa.array([0] * rows, pa.int64()),
                offset=pa.array(range(rows), pa.int64()),
            )
        )
        task.flush()
        flushed = task.flush()
        while not flushed.offsets:
            flushed = task.flush()
        return flushed
    finally:
        task.stop()
