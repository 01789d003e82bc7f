"""The rows of the files of one task: which records and which offsets they are.

The files of a task come one after the other, each as a whole and in its own order, because no file
is split: so a count of records says how far one was read, and holds in the next turn as well. Which
file comes first is up to Spark. So a finished file has an offset of its own until all of the turn's
files of its virtual bucket are finished: then the mark moves, and these offsets are forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.objects.source_marks import Mark
from penstock.plugins.objects.source_offsets import ObjectEntry, mark_partition
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.plugins.spark.hadoop_files import comparable
from penstock.plugins.spark.row_records import BROKEN, RowRecords
from penstock.sdk.batches import SourceBatch, offsets_only
from penstock.sdk.errors import RecordError
from penstock.sdk.frame_sources import FrameReading
from penstock.sdk.offsets import ChangedOffset
from penstock.sdk.sources.s3_offset_entry import DONE

FILE = "__file"
"""The column with the file of each row."""
PIECE_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True)
class PlannedFile:
    """A file to read, and how far it was read before."""

    number: int
    """Of its virtual bucket."""
    listed: ListedObject
    skip: int = 0


@dataclass(frozen=True)
class DamagedFile:
    """A file that Spark cannot read, or not to its end."""

    number: int
    listed: ListedObject
    read: int
    """Rows of it that were read before."""
    reason: str


@dataclass(frozen=True)
class FileOrder:
    """What one task is to read. Picklable."""

    bucket: str
    files: Mapping[str, PlannedFile]
    """By their addresses, as Spark gives them in rows."""
    settled: tuple[tuple[int, ListedObject], ...] = ()
    """Files that were finished before, of which the mark does not know yet."""
    damaged: tuple[DamagedFile, ...] = ()
    gone: tuple[str, ...] = ()
    """Keys of files that have an offset, and are no longer there."""
    marks: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """The offsets of the virtual buckets' marks, as they are or as they begin."""
    advance: Mapping[int, int] = field(default_factory=dict)
    """To which horizon a mark advances once all files here are finished."""


class FileReading(FrameReading):
    """Reads an order's files."""

    def __init__(self, order: FileOrder, records: RowRecords) -> None:
        self._order = order
        self._records = records
        self._current = ""
        self._seen: dict[str, int] = {}
        """How many rows of each file have come, by its address."""

    def read(self, rows: pa.RecordBatch) -> Iterator[SourceBatch | RecordError]:
        """Piece by piece; a row that Spark could not read is by itself."""
        step = max(1, int(rows.num_rows * PIECE_BYTES / max(rows.nbytes, 1)))
        for first in range(0, rows.num_rows, step):
            for piece in _apart(rows.slice(first, step)):
                yield from self._piece(piece)

    def _piece(self, rows: pa.RecordBatch) -> Iterator[SourceBatch | RecordError]:
        kept: list[pa.RecordBatch] = []
        offsets: dict[str, ChangedOffset] = {}
        for address, run in _runs(rows):
            for key, entry in self._moved(address, run.num_rows):
                offsets[key] = (entry.get_manager_key().partition, entry.get_properties())
            seen, skip = self._seen[address], self._order.files[address].skip
            kept.append(run.slice(max(0, skip - (seen - run.num_rows))))
        taken = kept[0] if len(kept) == 1 else pa.concat_batches(kept)
        changed = list(offsets.values())
        if _is_broken(taken):
            yield offsets_only(changed[:-1])
            yield self._records.broken(taken, *changed[-1])
        elif taken.num_rows:
            yield SourceBatch(self._records.made(taken), changed)
        elif changed:
            yield offsets_only(changed)

    def _moved(self, address: str, count: int) -> Iterator[tuple[str, ObjectEntry]]:
        """The offsets that change when so many more rows of a file have come."""
        if self._current and address != self._current:
            yield self._current, self._entry(self._current, done=True)
        self._current = address
        self._seen[address] = self._seen.get(address, 0) + count
        if self._seen[address] > self._order.files[address].skip:
            yield address, self._entry(address)

    def _entry(self, address: str, *, done: bool = False) -> ObjectEntry:
        file = self._order.files[address]
        entry = ObjectEntry(self._order.bucket, file.listed.key)
        entry.increment_record_count(max(self._seen[address], file.skip))
        entry.note_version(file.listed)
        if done:
            entry.set_bool(DONE, True)
        return entry

    def end(self) -> Iterator[SourceBatch | RecordError]:
        """All of it is finished: the marks move, and the files' own offsets are forgotten."""
        order = self._order
        yield from (self._letter(each) for each in order.damaged)
        marks = {number: Mark.of(offset) for number, offset in order.marks.items()}
        read: list[PlannedFile | DamagedFile] = [*order.files.values(), *order.damaged]
        finished = [*order.settled, *((each.number, each.listed) for each in read)]
        for number, listed in sorted(finished):
            marks[number].finish(listed)
        for number, horizon in order.advance.items():
            marks[number].advance(horizon)
        keys = [*order.gone, *(listed.key for _, listed in finished)]
        forgotten: list[ChangedOffset] = [
            (ObjectEntry.key_of(order.bucket, key).partition, None) for key in keys
        ]
        moved = [(mark_partition(order.bucket, n), mark.offset()) for n, mark in marks.items()]
        yield offsets_only([*forgotten, *moved])

    def _letter(self, file: DamagedFile) -> RecordError:
        """What is left of a damaged file, as one bad record."""
        entry = ObjectEntry(self._order.bucket, file.listed.key)
        entry.increment_record_count(file.read)
        entry.note_version(file.listed)
        entry.set_bool(DONE, True)
        return RecordError(
            f"File {file.listed.key} cannot be read: {file.reason}",
            data=file.listed.key.encode(),
            source_partition=entry.get_manager_key().partition,
            source_offset=entry.get_properties(),
        )


def _runs(rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each file, in their order."""
    encoded = pc.run_end_encode(rows.column(FILE))
    first = 0
    for address, end in zip(encoded.values.to_pylist(), encoded.run_ends.to_pylist(), strict=True):
        yield comparable(address), rows.slice(first, end - first)
        first = end


def _is_broken(rows: pa.RecordBatch) -> bool:
    return BROKEN in rows.schema.names and rows.column(BROKEN).null_count < rows.num_rows


def _apart(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The same rows, with each broken one by itself."""
    if not _is_broken(rows):
        yield rows
        return
    first = 0
    for row in pc.indices_nonzero(rows.column(BROKEN).is_valid()).to_pylist():
        if row > first:
            yield rows.slice(first, row - first)
        yield rows.slice(row, 1)
        first = row + 1
    if first < rows.num_rows:
        yield rows.slice(first)
