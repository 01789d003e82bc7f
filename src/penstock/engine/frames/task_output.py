"""What one task of a turn produces: one transaction with its rows, its input's offsets and the
worker's membership. The same whether it runs in a stage of Spark's or on the worker itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.frames.bad_rows import BadRows
from penstock.engine.frames.errors import OutputError
from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.whole_input import InputCutError
from penstock.engine.lease.lease import End
from penstock.engine.lease.lease_config import resolved
from penstock.engine.lease.lease_logs import logged
from penstock.engine.lease.lost_leases import Orphaned
from penstock.engine.lease.offset_copies import send_copies
from penstock.engine.lease.producing import produce
from penstock.engine.lease.tally import Tally
from penstock.engine.lease.traces import ending_of, trace_of
from penstock.engine.pipeline.pipeline import Encoded
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.logs.secrets import hidden_from
from penstock.sdk.batches import HEADERS, record_batch

OTHER_TASK = (
    "a row has another task than the records that it was made of: build must keep the column task "
    "as it is"
)
Acquire = Callable[[FrameLease], Transactions]
Keep = Callable[[FrameLease, Transactions], None]


def run_task(
    lease: FrameLease,
    batches: Iterable[pa.RecordBatch],
    confirm: Callable[[], bool],
    *,
    acquire: Acquire,
    keep: Keep = lambda _lease, _producer: None,
    whole: Callable[[], None] = lambda: None,
) -> FrameReport:
    """Produce the rows of a task, with columns as of ``output_columns``, and commit.

    ``confirm`` asks the worker whether the turn is still wanted (rule 10), and ``whole`` raises
    InputCutError if there should have been more batches. Raises nothing else: any other error is in
    the report.
    """
    with logged(lease):
        try:
            lease = resolved(lease)
            with _aborting(acquire(lease)) as producer:
                if not confirm():
                    raise Orphaned("the worker no longer wants this turn")
                report = _committed(lease, producer, batches, whole)
            keep(lease, producer)
        except InputCutError:
            raise
        except Exception as error:  # noqa: BLE001 (whatever it is, the worker must learn of it)
            trace = trace_of(error, hidden_from(lease.connector))
            return FrameReport(lease.task, lease.lease_id, ending_of(error), trace=trace)
        return report


@contextmanager
def _aborting(producer: Transactions) -> Iterator[Transactions]:
    """Abort on any error, also on one of the batches."""
    try:
        yield producer
    except BaseException:
        producer.abort()
        raise


def _committed(
    lease: FrameLease,
    producer: Transactions,
    batches: Iterable[pa.RecordBatch],
    whole: Callable[[], None],
) -> FrameReport:
    output = TaskOutput(lease, producer)
    for batch in batches:
        output.add(batch)
    whole()
    return output.commit()


class TaskOutput:
    """The open transaction of one task: ``add`` …, then ``commit``."""

    def __init__(self, lease: FrameLease, producer: Transactions) -> None:
        self._lease = lease
        self._producer = producer
        self._bad = BadRows(lease)
        self._produced = 0
        self._bytes = 0
        self._topics: frozenset[str] = frozenset()

    def add(self, batch: pa.RecordBatch) -> None:
        """Produce the rows of a batch that have no error."""
        self._refuse_others(batch.column("task"))
        if batch.column("error").null_count < batch.num_rows:
            is_good = batch.column("error").is_null()
            self._bad.take(batch.filter(pc.invert(is_good)))
            batch = batch.filter(is_good)
        if batch.num_rows:
            sent = produce(self._producer, _encoded(batch))
            self._produced += sent.records
            self._bytes += sent.payload_bytes
            self._topics |= sent.topics

    def _refuse_others(self, tasks: pa.Array) -> None:
        """OutputError for a row of another task: its input's offsets are committed elsewhere."""
        same = pc.all(pc.equal(tasks, self._lease.task), min_count=0).as_py()
        if tasks.null_count or not same:
            raise OutputError(OTHER_TASK)

    def commit(self) -> FrameReport:
        """Commit it all, with the membership, so that a replaced worker is rejected (rule 3)."""
        lease, ends, began = self._lease, self._lease.ends, time.monotonic()
        self._bad.send_letters(self._producer)
        send_copies(self._producer, lease, ends)
        self._producer.drain()
        offsets = [(*position, *committed) for position, committed in ends.items()]
        own = GroupOffsets(lease.group_metadata, offsets)
        self._producer.commit([], [own, lease.membership.offsets()])
        return self._report(time.monotonic() - began)

    def _report(self, seconds: float) -> FrameReport:
        lease, bad = self._lease, self._bad
        tally = Tally(
            taken=lease.offsets,
            given=self._produced,
            bad_records=bad.count,
            skipped=bad.count,
            dead_letters=bad.letters,
        )
        tally.count_commit(lease.offsets, self._bytes, seconds)
        return FrameReport(
            lease.task,
            lease.lease_id,
            End.DONE,
            sink_positions=lease.ends,
            records=lease.offsets,
            payload_bytes=self._bytes,
            dead_letters=bad.letters,
            topics=self._topics | {r.topic for r in lease.ranges},
            tally=tally,
            produced=self._produced,
            bad_rows=bad.count,
            errors=tuple(bad.texts),
        )


def _encoded(batch: pa.RecordBatch) -> Encoded:
    topic, key, value = (batch.column(name) for name in ("topic", "key", "value"))
    if topic.null_count:
        raise OutputError("a row has no topic: fill the column, or give the row an error")
    records = record_batch(
        topic.dictionary_encode(),
        value,
        key=key,
        partition=batch.column("partition"),
        timestamp=batch.column("timestamp"),
        headers=batch.column("headers").cast(HEADERS),
    )
    return Encoded(records, key, value)
