"""``parquet``: one row a record, with the file's own schema."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.sdk.errors import PenstockError
from penstock.sdk.objects import ObjectContext
from penstock.sdk.schema import from_field, to_field
from penstock.sdk.transformers.streams import BLOCK, CorruptStream, reading
from penstock.sdk.transformers.transformer import ArrowTransformer, OnBad, TransformedColumns

ROWS: Final = 8192


class ParquetTransformer(ArrowTransformer):
    """A struct of the file's columns.

    Parquet is read from its end, so a stream that cannot be sought in is copied to a temporary
    file first: on disk, not in memory. Row groups that were delivered are not read again.
    """

    def columns(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedColumns]:
        """A part of a row group at a time."""
        position = 0
        with reading(context, lambda: position), _seekable(stream) as file:
            for rows, reached in _batches(file, skip):
                with _fitting():
                    made = self.made(rows, reached)
                position = reached
                yield made

    def made(self, rows: pa.RecordBatch, position: int) -> TransformedColumns:
        """The records of these rows; ``position`` is that of the last."""
        struct = pa.StructArray.from_arrays(rows.columns, fields=list(rows.schema))
        column, field = as_held(struct, pa.field("value", struct.type, nullable=False))
        return TransformedColumns(column, field, position)


def _batches(file: BinaryIO, skip: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    try:
        # As it is by default, a whole row group would be read into memory, compressed.
        opened = pq.ParquetFile(file, buffer_size=BLOCK, pre_buffer=False)
        groups, position = _groups_after(opened, skip)
        for batch in opened.iter_batches(ROWS, row_groups=groups):
            first, position = position, position + batch.num_rows
            if position > skip:
                yield batch.slice(max(0, skip - first)), position
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and type(error) is not OSError:
            raise
        raise CorruptStream(f"it is not a Parquet file, or it is damaged ({error})") from None


@contextmanager
def _fitting() -> Iterator[None]:
    """CorruptStream for columns, or values in them, that records cannot have."""
    try:
        yield
    except (pa.ArrowException, PenstockError) as error:
        raise CorruptStream(f"its rows cannot be records ({error})") from None


def _groups_after(opened: pq.ParquetFile, skip: int) -> tuple[list[int], int]:
    """The row groups with anything beyond ``skip`` rows, and how many rows are before them."""
    before = 0
    for group in range(opened.num_row_groups):
        rows = opened.metadata.row_group(group).num_rows
        if before + rows > skip:
            return list(range(group, opened.num_row_groups)), before
        before += rows
    return [], before


def as_held(column: pa.Array, field: pa.Field) -> tuple[pa.Array, pa.Field]:
    """A column in the Arrow types that records have."""
    schema = from_field(field)
    if schema is None:
        return column, field
    held = to_field(schema, field.name)
    options = pc.CastOptions(held.type, allow_time_truncate=True)
    return pc.cast(column, options=options), held


@contextmanager
def _seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile(prefix="penstock-") as file:
        shutil.copyfileobj(stream, file, BLOCK)
        file.seek(0)
        yield file
