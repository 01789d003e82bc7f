"""Few records pass through the worker itself: a Spark job's fixed cost is what they consist of.

The worker reads them, Spark computes what ``build`` makes of them, mostly without a job, and the
worker produces that: under the ids, the rules and the transactions of a large turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema

from penstock.engine.frames.errors import OutputError
from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.task_frame import Part, task_batches, task_columns
from penstock.engine.frames.task_output import OTHER_TASK, run_task
from penstock.engine.lease import producers
from penstock.kafka.clients import Connection
from penstock.kafka.patience import Patience
from penstock.kafka.transactions import Transactions

MOST_OFFSETS = 5_000
MOST_BYTES = 1024 * 1024
AT_ONCE = 8


def small_records(connection: Connection, parts: Sequence[Part], *, headers: bool) -> pa.Table:
    """The records of a turn; of one with more than a megabyte, only the beginning."""
    batches: list[pa.RecordBatch] = []
    size = 0
    for batch in task_batches(connection, parts, headers=headers):
        batches.append(batch)
        size += batch.nbytes
        if size > MOST_BYTES:
            break
    return pa.Table.from_batches(batches, to_arrow_schema(task_columns(headers=headers)))


def produce_small(
    rows: pa.Table, leases: Sequence[FrameLease], confirm: Callable[[], bool]
) -> list[FrameReport]:
    """Produce each task's rows in its own transaction; OutputError for rows of no task."""
    known = pa.array([lease.task for lease in leases], pa.int32())
    if not pc.all(pc.is_in(rows.column("task"), value_set=known), min_count=0).as_py():
        raise OutputError(OTHER_TASK)

    def run(lease: FrameLease) -> FrameReport:
        mine = rows.filter(pc.equal(rows.column("task"), lease.task)).combine_chunks()
        return run_task(lease, mine.to_batches(), confirm, acquire=_acquire, keep=producers.keep)

    with ThreadPoolExecutor(min(AT_ONCE, len(leases))) as pool:
        return list(pool.map(run, leases))


def _acquire(lease: FrameLease) -> Transactions:
    """The producer that has committed the task's last turn, if that was here."""
    return producers.acquire(lease, Patience())
