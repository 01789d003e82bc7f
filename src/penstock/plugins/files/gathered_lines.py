"""Lines of several files, to be joined into one batch."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from penstock.plugins.files.file_offsets import offset_of, partition_of
from penstock.plugins.files.line_cutter import as_strings
from penstock.plugins.files.line_reader import BLOCK, LineReader
from penstock.sdk.batches import SourceBatch, record_batch
from penstock.sdk.offsets import SourceOffset, SourcePartition

MOST_BYTES: Final = BLOCK
"""Enough bytes for a batch; the last file may add one more block."""

VALUE: Final = pa.field("value", pa.string(), nullable=False)


class GatheredLines:
    """Collects lines from readers, from each at most once, until there is enough for a batch."""

    def __init__(self, most_lines: int) -> None:
        self.room = most_lines
        """How many more lines fit."""
        self._bytes = 0
        self._lines: list[pa.Array] = []
        self._offsets: list[tuple[SourcePartition, SourceOffset]] = []

    def __bool__(self) -> bool:
        return bool(self._offsets)

    @property
    def full(self) -> bool:
        """Whether this is enough."""
        return self.room <= 0 or self._bytes >= MOST_BYTES

    @property
    def line_bytes(self) -> float:
        """The average length of a line; 0 if there are none."""
        return self._bytes / max(1, sum(map(len, self._lines)))

    def add(self, reader: LineReader, lines: pa.Array) -> None:
        """Add lines just taken from ``reader``, with its position."""
        self._lines.append(lines)
        offset = offset_of(reader.position, reader.identity)
        self._offsets.append((partition_of(reader.path), offset))
        self.room -= len(lines)
        self._bytes += lines.nbytes

    def batch(self, topic: str) -> SourceBatch:
        """The batch of all lines."""
        lines = self._lines[0] if len(self._lines) == 1 else pa.concat_arrays(self._lines)
        records = record_batch(topic, as_strings(lines), value_field=VALUE)
        return SourceBatch(records, self._offsets)
