"""A source lease that is fed by a Spark stage: rows in, transactions of records and offsets out.

The loop is that of any source. Its task is given rows instead of polling, and it ends when these
end; nothing can be read again, so that a transaction that was rolled back loses the lease.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from penstock.engine.frames.loaded import PartsBatch
from penstock.engine.frames.whole_input import InputCutError
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import End, Lease, Report, SourceLease
from penstock.engine.lease.lease_config import resolved
from penstock.engine.lease.lease_logs import logged
from penstock.engine.lease.lease_loop import LeaseLoop
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.lease.traces import ending_of, trace_of
from penstock.engine.pipeline.pipeline import Bad, Encoded
from penstock.kafka.transactions import Transactions
from penstock.logs.secrets import hidden_from
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import PenstockError
from penstock.sdk.frame_sources import FrameReading
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.tasks import SourceTask

ASK_SECONDS = 5.0
"""How often a long turn asks whether it is still wanted, which also says that it lives."""


L = TypeVar("L", bound=Lease)


@dataclass(frozen=True)
class Rows:
    """What a task of a turn is fed with."""

    batches: Iterable[pa.RecordBatch]
    reading: FrameReading
    whole: Callable[[], None] = lambda: None
    """Raises InputCutError if there should have been more batches."""


class RowTask(SourceTask):
    """Hands out what its rows are."""

    def __init__(self, rows: Rows) -> None:
        self.ended = False
        self._items = self._all(rows)

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        """The reading knows where it is."""

    def poll(self) -> SourceBatch | None:
        """The next batch; waits for Spark."""
        item = next(self._items, None)
        if isinstance(item, PenstockError):
            raise item
        self.ended = item is None
        return item

    def _all(self, rows: Rows) -> Iterator[SourceBatch | PenstockError]:
        for batch in rows.batches:
            yield from rows.reading.read(batch)
        rows.whole()
        yield from rows.reading.end()


class RowLoop(SourceLoop):
    """The state of one task of a turn."""

    def __init__(self, lease: SourceLease, heartbeat: Heartbeat, rows: Rows) -> None:
        super().__init__(lease, heartbeat)
        self._task = RowTask(rows)
        self._asked = time.monotonic()

    def _move_records(self, producer: Transactions) -> None:
        self._poll_until_over(self._task, producer)

    def _over(self) -> bool:
        return self._heartbeat.over or self._task.ended

    def _encoded_now(self, batch: SourceBatch, bad: Bad) -> Encoded:
        if isinstance(batch, PartsBatch):
            return self._pipeline.encode_parts(batch.parts, bad)
        return super()._encoded_now(batch, bad)

    def _commit(self, task: SourceTask, producer: Transactions, *, here: bool = False) -> None:
        if time.monotonic() - self._asked > ASK_SECONDS:
            self._ask_before_beginning()
            self._asked = time.monotonic()
        super()._commit(task, producer, here=here)


def run_rows(lease: SourceLease, confirm: Callable[[], bool], rows: Rows) -> Report:
    """Produce what the rows are, and commit. Raises InputCutError alone: any other error is in the
    report."""
    return run_loop(lease, confirm, lambda each, heartbeat: RowLoop(each, heartbeat, rows))


def run_loop(
    lease: L, confirm: Callable[[], bool], loop_of: Callable[[L, Heartbeat], LeaseLoop[Any]]
) -> Report:
    """Run a task of a turn, with its lease resolved. Raises InputCutError alone."""
    with logged(lease):
        try:
            lease = resolved(lease)
        except BaseException as error:  # noqa: BLE001 (a converter's or transform's own, too)
            trace = trace_of(error, hidden_from(lease.connector))
            return Report(lease.task, lease.lease_id, End.FAILED, trace=trace)
        loop = loop_of(lease, Heartbeat(confirm))
        try:
            loop.run()
        except InputCutError:
            raise
        except BaseException as error:  # noqa: BLE001 (whatever it is, the worker must learn of it)
            return loop.report(ending_of(error), trace_of(error, lease.secrets))
        return loop.report(End.DONE, "")
