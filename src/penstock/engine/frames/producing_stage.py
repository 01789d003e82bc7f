"""The last stage of a turn into Kafka: each task's rows in one transaction, in an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.last_stage import Encode, last_stage
from penstock.engine.frames.task_frame import Stage
from penstock.engine.frames.task_output import run_task
from penstock.engine.frames.whole_input import refuse_cut_input
from penstock.kafka.transactions import Transactions


def producing(leases: Sequence[FrameLease], confirm: Callable[[], bool], encode: Encode) -> Stage:
    """For Spark, whose partition n is that of ``leases[n]``. ``confirm`` asks the worker."""

    def run(part: int, batches: Iterable[pa.RecordBatch]) -> Any:
        report = run_task(
            leases[part], batches, confirm, acquire=_new_producer, whole=refuse_cut_input
        )
        return encode(report)

    return last_stage(run)


def _new_producer(lease: FrameLease) -> Transactions:
    """Never kept: this process may not see the task again."""
    settings = lease.producer_settings
    return Transactions(lease.connection, lease.transactional_id, **settings)
