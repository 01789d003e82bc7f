"""The first stage of a turn with a step in Spark SQL: what a task polls or reads, as rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

import pyarrow as pa
from pyspark import TaskContext

from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.loads import Load, Refused, failed, without_payload
from penstock.engine.frames.problems import Problem
from penstock.engine.frames.seen_columns import Seen
from penstock.engine.frames.task_frame import Stage
from penstock.engine.frames.whole_input import refuse_cut_input
from penstock.engine.lease.decoding import decoded
from penstock.engine.lease.lease import Lease, SourceLease
from penstock.engine.lease.lease_config import resolved
from penstock.engine.lease.lease_logs import logged
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.stage_error import StageError
from penstock.kafka.errors import KafkaFault
from penstock.kafka.range_reader import read_ranges
from penstock.logs.secrets import hidden_from
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import RecordError
from penstock.sdk.frame_sources import FrameReading
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.packing import pack
from penstock.sdk.records import SourceRecord
from penstock.sdk.tasks import SourceTask

POLL_SECONDS, DRY_SECONDS, PAUSE_SECONDS = 2.0, 1.0, 0.05
"""How long a task polls in a turn, and how long it waits for the first records."""
MOST_BYTES = 64 * 1024 * 1024
"""What one task brings in a turn at the most, about."""

L = TypeVar("L", bound=Lease)
Loads = Callable[[L, Pipeline], Iterable[Load]]


def polling(lease: SourceLease, seen: Seen) -> Stage:
    """For Spark: the task polls; its input is not looked at."""

    def stage(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        yield from _rows(lease, seen, polled)

    return stage


def reading_rows(lease: SourceLease, reading: FrameReading, seen: Seen) -> Stage:
    """For Spark: its rows are read as those of a frame source."""

    def stage(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _rows(lease, seen, lambda _, pipeline: _read(batches, reading, pipeline))

    return stage


def reading_ranges(leases: tuple[FrameLease, ...], seen: Seen, *, headers: bool) -> Stage:
    """For Spark: partition n of Spark's reads the ranges of ``leases[n]``."""

    def stage(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from _rows(leases[number], seen, partial(_ranges, headers=headers))

    return stage


def _rows(lease: L, seen: Seen, loads: Loads[L]) -> Iterator[pa.RecordBatch]:
    """Rule 4: a re-attempt touches nothing. An error of the task's is the end of its loads."""
    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        return
    with logged(lease):
        try:
            lease = resolved(lease)
            assert isinstance(lease.pipeline, Pipeline)  # noqa: S101 (its settings are resolved)
            for load in loads(lease, lease.pipeline):
                yield seen.rows(load)
        except KafkaFault:
            raise  # the turn is lost
        except Exception as error:  # noqa: BLE001 (a task's error is data)
            yield seen.rows(failed(error, hidden_from(lease.connector)))


# What a task polls.


def polled(lease: SourceLease, pipeline: Pipeline) -> Iterator[Load]:
    """What the task has, for a while; what it could not read is a failure of that load alone."""
    task = lease.task_class()
    try:
        task.start(lease.config, OffsetReader((p, o) for _, p, o in lease.positions))
        yield from _polls(task, pipeline)
        for left in task.finish():
            yield from _loads(left, pipeline)
    finally:
        task.stop()


def _polls(task: SourceTask, pipeline: Pipeline) -> Iterator[Load]:
    began, size, moved = time.monotonic(), 0, False
    while time.monotonic() - began < (POLL_SECONDS if moved else DRY_SECONDS) and size < MOST_BYTES:
        try:
            found = task.poll()
        except RecordError as error:
            moved = True
            yield Load(failure=error)
            continue
        for load in _loads(found, pipeline):
            moved, size = True, size + sum(group.nbytes for group in load.groups)
            yield load
        if not found:
            if moved and not task.busy:
                return
            time.sleep(PAUSE_SECONDS)


def _loads(
    found: SourceBatch | Iterable[SourceRecord] | None, pipeline: Pipeline
) -> Iterator[Load]:
    if found is None:
        return
    if isinstance(found, SourceBatch):
        yield source_load(found, pipeline)
        return
    left = list(found)
    while left:
        try:
            batches, rest, unfit = list(pack(left)), [], None
        except RecordError as error:
            batches, rest = list(pack(left[: error.row])), left[error.row + 1 :]
            unfit = _unfit(left[error.row], error)
        yield from (source_load(batch, pipeline) for batch in batches)
        if unfit is not None:
            yield Load(failure=unfit)
        left = rest


def _unfit(record: SourceRecord, error: RecordError) -> RecordError:
    return RecordError(
        str(error),
        data=repr(record.value).encode(),
        source_partition=record.source_partition,
        source_offset=record.source_offset,
    )


def source_load(batch: SourceBatch, pipeline: Pipeline) -> Load:
    """One batch, after the transforms that come before Spark's."""
    refused: list[Refused] = []

    def bad(rows: pa.RecordBatch, error: StageError) -> None:
        refused.append((rows.slice(error.row, 1), Problem.of(error)))

    rows = batch.records.num_rows
    groups = list(pipeline.transform_tolerantly(batch.records, bad)) if rows else []
    return Load(groups, refused, batch.offsets)


# What Spark reads for a frame source.


def _read(
    batches: Iterable[pa.RecordBatch], reading: FrameReading, pipeline: Pipeline
) -> Iterator[Load]:
    for batch in batches:
        yield from _items(reading.read(batch), pipeline)
    refuse_cut_input()
    yield from _items(reading.end(), pipeline)


def _items(items: Iterable[SourceBatch | RecordError], pipeline: Pipeline) -> Iterator[Load]:
    for item in items:
        if isinstance(item, RecordError):
            yield Load(failure=item)
        else:
            yield source_load(item, pipeline)


# What a sink reads.


def _ranges(lease: FrameLease, pipeline: Pipeline, *, headers: bool) -> Iterator[Load]:
    kept = bool(lease.tolerance.dead_letter_topic)
    for raw in read_ranges(lease.connection, lease.ranges, headers=headers or kept):
        if raw.num_rows:
            yield sink_load(raw, pipeline, kept=kept)


def sink_load(raw: pa.RecordBatch, pipeline: Pipeline, *, kept: bool) -> Load:
    """Records of one topic-partition, converted, after the transforms before Spark's."""
    refused: list[Refused] = []

    def set_aside(row: int, error: StageError) -> None:
        refused.append((raw.slice(row, 1), Problem.of(error)))

    groups, _ = decoded(raw, lambda part: list(pipeline.decode(part)), set_aside)
    return Load(groups, refused, raw=raw if kept else without_payload(raw))
