"""The other end of ``loads``: what Spark has made of the rows, put back into records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.engine.frames.loads import Load, unpacked
from penstock.engine.frames.problems import PROBLEM, Problem, refused
from penstock.engine.frames.seen_columns import LOAD, ROW
from penstock.engine.pipeline.parts import Numbers, Part
from penstock.sdk.batches import SourceBatch, record_batch
from penstock.sdk.frame_sources import FrameReading
from penstock.sdk.transformers.parquet_rows import as_held

VALUE = "__value"


@dataclass(frozen=True)
class Loaded:
    """A load, and what has become of its rows."""

    load: Load
    rows: pa.RecordBatch
    """Those that are left, without the load's own."""

    def good(self) -> Iterator[Part]:
        """Of each group, the records with their new values; their places are their numbers."""
        value = self._value()
        for first, group in self._groups():
            found = self._between(first, group, problems=False)
            part = group.take(pa.array(self._numbers[found] - first))
            yield Part(_with_value(part, value, found), self._numbers[found])

    def bad(self) -> Iterator[Part]:
        """The records with a problem, as they were, and with a column for it."""
        for first, group in self._groups():
            found = self._between(first, group, problems=True)
            if len(found):
                texts = self.rows.column(PROBLEM).take(pa.array(found)).to_pylist()
                part = group.take(pa.array(self._numbers[found] - first))
                made = refused(part, [Problem(text).written for text in texts])
                yield Part(made, self._numbers[found])
        for number, (record, problem) in enumerate(self.load.refused, self.load.rows):
            yield Part(refused(record, [problem.written]), np.array([number]))

    def _groups(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        first = 0
        for group in self.load.groups:
            yield first, group
            first += group.num_rows

    @property
    def _numbers(self) -> Numbers:
        found: Numbers = self.rows.column(ROW).to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    def _between(self, first: int, group: pa.RecordBatch, *, problems: bool) -> Numbers:
        """The rows of a group, with or without problems."""
        low, high = np.searchsorted(self._numbers, [first, first + group.num_rows])
        has = self.rows.column(PROBLEM).is_valid().to_numpy(zero_copy_only=False)[low:high]
        found: Numbers = np.flatnonzero(has if problems else ~has) + low
        return found

    def _value(self) -> tuple[pa.Array, pa.Field] | None:
        if VALUE not in self.rows.schema.names:
            return None
        column = self.rows.column(VALUE)
        relaxed = _relaxed(column.type)
        return as_held(column.cast(relaxed), pa.field(VALUE, relaxed))


def _relaxed(kind: pa.DataType) -> pa.DataType:
    """The type with optional fields: within a null struct, those that Spark calls not null are."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(each.name, _relaxed(each.type)) for each in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _relaxed(kind.item_type))
    return pa.list_(_relaxed(kind.value_type)) if pa.types.is_list(kind) else kind


def _with_value(
    part: pa.RecordBatch, value: tuple[pa.Array, pa.Field] | None, rows: Numbers
) -> pa.RecordBatch:
    if value is None:
        return part
    array, held = value
    at = part.schema.get_field_index("value")
    return part.set_column(at, held.with_name("value"), array.take(pa.array(rows)))


@dataclass
class Arriving:
    """Puts the rows of loads together, which come in pieces. Not thread-safe."""

    waiting: list[pa.RecordBatch] = field(default_factory=list)

    def loads(self, rows: pa.RecordBatch) -> Iterator[Loaded]:
        """The loads that are complete with these rows."""
        start = 0
        for end in np.flatnonzero(rows.column(ROW).is_null().to_numpy(zero_copy_only=False)):
            self.waiting.append(rows.slice(start, end - start))
            load = unpacked(rows.column(LOAD)[int(end)].as_py())
            waiting, self.waiting = self.waiting, []
            yield Loaded(load, pa.concat_batches(waiting))
            start = int(end) + 1
        self.waiting.append(rows.slice(start))


@dataclass(frozen=True)
class PartsBatch(SourceBatch):
    """A batch whose records have several schemas; ``records`` only says how many there were."""

    parts: tuple[Part, ...] = ()


class LoadReading(FrameReading):
    """Reads loads of a source, in the last stage."""

    def __init__(self) -> None:
        self._arriving = Arriving()

    def read(self, rows: pa.RecordBatch) -> Iterator[Any]:
        """One batch for each load that is complete, or the error that ended them."""
        for loaded in self._arriving.loads(rows):
            yield loaded.load.failure or _parts_batch(loaded)

    def end(self) -> Iterable[SourceBatch]:
        """The loads have ended by themselves."""
        return ()


def _parts_batch(loaded: Loaded) -> PartsBatch:
    load = loaded.load
    parts = (*loaded.good(), *loaded.bad())
    count = load.rows + len(load.refused)
    return PartsBatch(record_batch("", pa.nulls(count)), load.offsets, parts)
