"""The rows of a database's table: which records and which offsets they are.

Spark sorts the rows of a turn, so that an offset after any of them says what is before it. Rows of
the same time belong together where a time alone orders them: an offset cannot stand between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.databases.table_offsets import RowOffset
from penstock.plugins.spark.row_records import RowRecords
from penstock.sdk.batches import SourceBatch, offsets_only
from penstock.sdk.errors import FatalError
from penstock.sdk.frame_sources import FrameReading
from penstock.sdk.offsets import SourceOffset, SourcePartition

NUMBER = "__number"
TIME = "__time"
PIECE_BYTES = 2 * 1024 * 1024


@dataclass
class OrderedReading(FrameReading):
    """Reads rows in the order of their times and numbers, up to ``last``."""

    partition: SourcePartition
    last: SourceOffset | None
    """The offset once all of the turn is read; None: that of its last row."""
    records: RowRecords
    latest: int = -(1 << 63)
    held: pa.RecordBatch | None = None
    """Rows of the latest time, of which there may be more."""

    def read(self, rows: pa.RecordBatch) -> Iterator[SourceBatch]:
        """Piece by piece, each with the offset of its last row."""
        step = max(1, int(rows.num_rows * PIECE_BYTES / max(rows.nbytes, 1)))
        self._refuse_disorder(rows)
        for first in range(0, rows.num_rows, step):
            piece = rows.slice(first, step)
            yield from self._by_time(piece) if self._only_times(piece) else [self._batch(piece)]

    def _refuse_disorder(self, rows: pa.RecordBatch) -> None:
        """An offset would otherwise pass rows that have not come."""
        leading = rows.column(TIME if TIME in rows.schema.names else NUMBER)
        later, earlier = leading.slice(1), leading.slice(0, len(leading) - 1)
        first, last = leading[0].as_py(), leading[len(leading) - 1].as_py()
        if first < self.latest or not pc.all(pc.less_equal(earlier, later), min_count=0).as_py():
            raise FatalError("the rows of a turn did not come in the order of their offsets")
        self.latest = last

    def _only_times(self, rows: pa.RecordBatch) -> bool:
        return NUMBER not in rows.schema.names

    def _by_time(self, rows: pa.RecordBatch) -> Iterator[SourceBatch]:
        if self.held is not None:
            rows = pa.concat_batches([self.held, rows])
        times = rows.column(TIME)
        complete = pc.sum(pc.less(times, times[len(times) - 1])).as_py() or 0
        self.held = rows.slice(complete)
        if complete:
            yield self._batch(rows.slice(0, complete))

    def _batch(self, rows: pa.RecordBatch) -> SourceBatch:
        row, names = rows.num_rows - 1, rows.schema.names
        number = rows.column(NUMBER)[row].as_py() if NUMBER in names else None
        micros = rows.column(TIME)[row].as_py() if TIME in names else None
        offset = RowOffset(number, micros).to_json()
        return SourceBatch(self.records.made(rows), [(self.partition, offset)])

    def end(self) -> Iterator[SourceBatch]:
        """The rows that were held, and the end of the turn."""
        if self.last is None:
            return
        if self.held is not None and self.held.num_rows:
            yield SourceBatch(self.records.made(self.held), [(self.partition, self.last)])
        else:
            yield offsets_only([(self.partition, self.last)])


@dataclass(frozen=True)
class WholeReading(FrameReading):
    """Reads all there is, in no order: only its end has an offset."""

    partition: SourcePartition
    last: Mapping[str, Any]
    records: RowRecords

    def read(self, rows: pa.RecordBatch) -> Iterator[SourceBatch]:
        """Piece by piece, with no offset."""
        step = max(1, int(rows.num_rows * PIECE_BYTES / max(rows.nbytes, 1)))
        for first in range(0, rows.num_rows, step):
            yield SourceBatch(self.records.made(rows.slice(first, step)), [])

    def end(self) -> Iterator[SourceBatch]:
        """The pass is complete."""
        yield offsets_only([(self.partition, self.last)])
