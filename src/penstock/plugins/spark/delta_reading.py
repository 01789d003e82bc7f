"""The rows of a table's files: which records and which offsets they are.

The files of a turn come one after the other, as they were planned, and no file is split: so the
number of a file, and a count of its rows, say how far the table was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.spark.delta_offsets import DeltaOffset
from penstock.plugins.spark.row_records import RowRecords
from penstock.sdk.batches import SourceBatch, offsets_only
from penstock.sdk.errors import FatalError
from penstock.sdk.frame_sources import FrameReading
from penstock.sdk.offsets import SourcePartition

FILE = "__file"
"""The column with the number that a file has in its turn."""
PIECE_BYTES = 2 * 1024 * 1024


@dataclass
class DeltaReading(FrameReading):
    """Reads the files of a turn; ``starts`` are their offsets, before their first row."""

    partition: SourcePartition
    starts: tuple[DeltaOffset, ...]
    last: DeltaOffset
    """The offset once all of the turn is read."""
    records: RowRecords
    current: int = 0
    seen: int = 0
    """Rows of the current file that have come, with those that are passed over."""

    def read(self, rows: pa.RecordBatch) -> Iterator[SourceBatch]:
        """Piece by piece, each of one file."""
        step = max(1, int(rows.num_rows * PIECE_BYTES / max(rows.nbytes, 1)))
        for number, run in _runs(rows):
            self._move_to(number)
            for first in range(0, run.num_rows, step):
                yield from self._piece(run.slice(first, step))

    def _move_to(self, number: int) -> None:
        """An offset would otherwise pass rows that have not come."""
        if number < self.current:
            raise FatalError("the files of a turn did not come in the order of their offsets")
        if number > self.current:
            self.current, self.seen = number, 0

    def _piece(self, rows: pa.RecordBatch) -> Iterator[SourceBatch]:
        start = self.starts[self.current]
        left = rows.slice(max(0, start.rows - self.seen))
        self.seen += rows.num_rows
        if left.num_rows:
            at = DeltaOffset(start.version, start.index, self.seen, start.snapshot)
            yield SourceBatch(self.records.made(left), [(self.partition, at.to_json())])

    def end(self) -> Iterator[SourceBatch]:
        """All files of the turn are read."""
        yield offsets_only([(self.partition, self.last.to_json())])


def _runs(rows: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of each file, in their order."""
    encoded = pc.run_end_encode(rows.column(FILE))
    first = 0
    for number, end in zip(encoded.values.to_pylist(), encoded.run_ends.to_pylist(), strict=True):
        yield number, rows.slice(first, end - first)
        first = end
