"""From a connector's records to bytes and back: transforms and converters over Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from penstock.engine.pipeline.parts import Part, consecutive, together
from penstock.engine.pipeline.per_topic import encoded_column
from penstock.engine.pipeline.predicated import Predicated
from penstock.engine.pipeline.refusals import refusals
from penstock.engine.pipeline.stage_error import StageError, at_stage
from penstock.engine.pipeline.typed_headers import TypedHeaders
from penstock.sdk.batches import record_batch
from penstock.sdk.converters import Converter, Decoded
from penstock.sdk.transforms import Transform

T = TypeVar("T")
Bad = Callable[[pa.RecordBatch, StageError], None]
"""Takes a batch and the error of one of its rows; raises unless the row may be left out."""
Apply = Callable[[Predicated, Part], list[Part]]


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
    transforms: Sequence[Transform | Predicated] = ()
    headers: TypedHeaders | None = None
    """None: the values of headers are written and read as they are."""

    @property
    def predicated(self) -> bool:
        """Whether a predicate reads the records."""
        return any(step.predicate is not None for step in self._steps())

    def _steps(self) -> list[Predicated]:
        return [t if isinstance(t, Predicated) else Predicated(t) for t in self.transforms]

    def encode(self, batch: pa.RecordBatch, bad: Bad | None = None) -> Encoded:
        """Source side: transform, then convert to bytes.

        A row with an error is passed to ``bad`` with its batch, and is left out if that returns;
        without ``bad``, the StageError that names it is raised.
        """
        return self.encode_parts([Part.whole(batch)], bad)

    def encode_parts(self, parts: Sequence[Part], bad: Bad | None = None) -> Encoded:
        """As ``encode``, of rows that have several schemas, in the order of their places."""
        parts = self._transformed(parts, lambda step, part: _tolerantly(step.apply, part, bad))
        if len(parts) == 1:
            return _tolerantly(self._converted, parts[0], bad)
        [whole] = together([_tolerantly(self._binary, part, bad) for part in parts])
        return Encoded(whole.batch, whole.batch.column("key"), whole.batch.column("value"))

    def transform(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Source side without converters: the transformed records, one batch per run of equal
        schemas. StageError names a row."""
        whole = [Part.whole(batch)]
        return consecutive(self._transformed(whole, lambda step, part: step.apply(part)))

    def transform_tolerantly(self, batch: pa.RecordBatch, bad: Bad) -> Iterator[pa.RecordBatch]:
        """As ``transform``; a row with an error is passed to ``bad``, and is left out."""
        parts = [Part.whole(batch)]
        return consecutive(
            self._transformed(parts, lambda step, part: _tolerantly(step.apply, part, bad))
        )

    def _converted(self, part: Part) -> Encoded:
        batch = part.batch
        with at_stage("KEY_CONVERTER", self.key):
            key = encoded_column(self.key, batch, "key")
        with at_stage("VALUE_CONVERTER", self.value):
            value = encoded_column(self.value, batch, "value")
        if self.headers is not None:
            with at_stage("HEADER_CONVERTER", self.headers.converter):
                batch = self.headers.encode(batch)
        return Encoded(batch, key, value)

    def _binary(self, part: Part) -> Part:
        """Keys and values as bytes: parts that were split by schema are joined again."""
        encoded = self._converted(part)
        done = encoded.batch
        other = {name: done.column(name) for name in ("partition", "timestamp", "headers")}
        topic = done.column("topic")
        batch = record_batch(topic, encoded.value, key=encoded.key, **other)
        return Part(batch, part.places)

    def decode(self, raw: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Sink side: convert from bytes, then transform; one batch per run of equal schemas.

        ``raw`` has the columns of ``penstock.sdk.batches`` with binary ``key`` and ``value``.
        StageError names a row of it.
        """
        with at_stage("KEY_CONVERTER", self.key):
            keys = self.key.decode(raw.column("key"))
        with at_stage("VALUE_CONVERTER", self.value):
            values = self.value.decode(raw.column("value"))
        if self.headers is not None:
            with at_stage("HEADER_CONVERTER", self.headers.converter):
                raw = self.headers.decode(raw)
        for start, stop in _runs(keys, values, raw.num_rows):
            yield from self.transform_of(_slice(raw, keys, values, start, stop), raw)

    def transform_of(self, batch: pa.RecordBatch, raw: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Sink side without converters: ``batch`` is what was made of some records of ``raw``, of
        which a StageError names a row."""
        whole = [Part.whole(batch)]
        return consecutive(self._transformed(whole, lambda step, part: _named(step, part, raw)))

    def _transformed(self, given: Sequence[Part], apply: Apply) -> list[Part]:
        parts = list(given)
        for step in self._steps():
            if any(part.batch.num_rows for part in parts):
                parts = together([piece for part in parts for piece in apply(step, part)])
        return parts


def _named(step: Predicated, part: Part, raw: pa.RecordBatch) -> list[Part]:
    """The step applied; an error names the row of ``raw``."""
    try:
        return step.apply(part)
    except StageError as error:
        offset = part.batch.column("offset")[error.row]
        error.row = raw.column("offset").index(offset).as_py()
        raise


def _tolerantly(step: Callable[[Part], T], part: Part, bad: Bad | None) -> T:
    try:
        return step(part)
    except StageError:
        if bad is None:
            raise
    return step(_good(step, part, bad))


def _good(step: Callable[[Part], object], part: Part, bad: Bad) -> Part:
    """The part without the rows that the step refuses."""
    refused = []

    def attempt(start: int, end: int) -> None:
        step(part.rows(start, end))

    for row, error in refusals(part.batch.num_rows, attempt, StageError):
        bad(part.batch.slice(row - error.row), error)
        refused.append(row)
    return part.without(refused)


def without(batch: pa.RecordBatch, rows: int | Sequence[int]) -> pa.RecordBatch:
    """``batch`` but for some of its rows."""
    return batch.take(pa.array(np.delete(np.arange(batch.num_rows), rows)))


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
