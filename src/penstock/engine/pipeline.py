"""From a connector's records to bytes and back: transforms and converters over Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from penstock.columnar.converter import Converter, Decoded
from penstock.columnar.transform import Transform, chain
from penstock.sdk.batches import record_batch


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

    def encode(self, batch: pa.RecordBatch) -> Encoded:
        """Source side: transform, then convert to bytes. RecordError names the row at fault."""
        batch = chain(self.transforms, batch)
        schema = batch.schema
        key_field, value_field = schema.field("key"), schema.field("value")
        return Encoded(
            batch,
            self.key.encode(batch.column("key"), key_field),
            self.value.encode(batch.column("value"), value_field),
        )

    def decode(self, raw: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Sink side: convert from bytes, then transform; one batch per run of equal schemas.

        ``raw`` has the columns of ``penstock.sdk.batches`` with binary ``key`` and ``value``.
        """
        keys = self.key.decode(raw.column("key"))
        values = self.value.decode(raw.column("value"))
        for start, stop in _runs(keys, values, raw.num_rows):
            yield chain(self.transforms, _slice(raw, keys, values, start, stop))


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
