"""From a connector's records to bytes and back: transforms and converters over Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pyarrow as pa

from penstock.columnar.converter import Converter, Decoded
from penstock.columnar.transform import Transform
from penstock.engine.stage_error import StageError, at_stage
from penstock.sdk.batches import record_batch

T = TypeVar("T")
Bad = Callable[[pa.RecordBatch, StageError], None]
"""Takes a batch and what is wrong with a row of it; raises unless the row may be left out."""


@dataclass(frozen=True)
class Encoded:
    """A batch ready to be produced: ``key`` and ``value`` are binary columns."""

    batch: pa.RecordBatch
    key: pa.Array
    value: pa.Array


@dataclass(frozen=True)
class Pipeline:
    """The configured converters and transforms of one connector. Picklable."""

    key: Converter
    value: Converter
    transforms: Sequence[Transform] = ()

    def encode(self, batch: pa.RecordBatch, bad: Bad | None = None) -> Encoded:
        """Source side: transform, then convert to bytes.

        A row at fault goes to ``bad`` with the batch it is in, and is left out if that returns;
        without ``bad`` the StageError that names it is raised.
        """
        for transform in self.transforms:
            step = partial(_transformed, transform)
            batch = _tolerantly(step, batch, bad) if batch.num_rows else batch
        return _tolerantly(self._converted, batch, bad)

    def _converted(self, batch: pa.RecordBatch) -> Encoded:
        schema = batch.schema
        with at_stage("KEY_CONVERTER", self.key):
            key = self.key.encode(batch.column("key"), schema.field("key"))
        with at_stage("VALUE_CONVERTER", self.value):
            value = self.value.encode(batch.column("value"), schema.field("value"))
        return Encoded(batch, key, value)

    def decode(self, raw: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Sink side: convert from bytes, then transform; one batch per run of equal schemas.

        ``raw`` has the columns of ``penstock.sdk.batches`` with binary ``key`` and ``value``.
        StageError names a row of it.
        """
        with at_stage("KEY_CONVERTER", self.key):
            keys = self.key.decode(raw.column("key"))
        with at_stage("VALUE_CONVERTER", self.value):
            values = self.value.decode(raw.column("value"))
        for start, stop in _runs(keys, values, raw.num_rows):
            yield self._chained(_slice(raw, keys, values, start, stop), raw)

    def _chained(self, batch: pa.RecordBatch, raw: pa.RecordBatch) -> pa.RecordBatch:
        for transform in self.transforms:
            if not batch.num_rows:
                break
            try:
                batch = _transformed(transform, batch)
            except StageError as error:
                offset = batch.column("offset")[error.row]
                error.row = raw.column("offset").index(offset).as_py()
                raise
        return batch


def _transformed(transform: Transform, batch: pa.RecordBatch) -> pa.RecordBatch:
    with at_stage("TRANSFORMATION", transform):
        return transform.apply(batch)


def _tolerantly(step: Callable[[pa.RecordBatch], T], batch: pa.RecordBatch, bad: Bad | None) -> T:
    while True:
        try:
            return step(batch)
        except StageError as error:
            if bad is None:
                raise
            bad(batch, error)
            batch = without(batch, error.row)


def without(batch: pa.RecordBatch, row: int) -> pa.RecordBatch:
    """``batch`` but for one of its rows."""
    kept = [i for i in range(batch.num_rows) if i != row]
    return batch.take(pa.array(kept, pa.int64()))


def _runs(
    keys: Sequence[Decoded], values: Sequence[Decoded], rows: int
) -> Iterator[tuple[int, int]]:
    if not rows:
        return
    starts = sorted({run.start for run in keys} | {run.start for run in values})
    yield from zip(starts, [*starts[1:], rows], strict=True)


def _slice(
    raw: pa.RecordBatch,
    keys: Sequence[Decoded],
    values: Sequence[Decoded],
    start: int,
    stop: int,
) -> pa.RecordBatch:
    key, key_field = _part(keys, start, stop)
    value, value_field = _part(values, start, stop)
    part = raw.slice(start, stop - start)
    return record_batch(
        part.column("topic"),
        value,
        key=key,
        key_field=key_field,
        value_field=value_field,
        partition=part.column("partition"),
        timestamp=part.column("timestamp"),
        headers=part.column("headers"),
        offset=part.column("offset"),
    )


def _part(runs: Sequence[Decoded], start: int, stop: int) -> tuple[pa.Array, pa.Field]:
    run = next(r for r in reversed(runs) if r.start <= start)
    return run.array.slice(start - run.start, stop - start), run.field
