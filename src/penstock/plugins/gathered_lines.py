"""Lines of several files on their way into one batch."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from penstock.plugins.file_offsets import POSITION, partition_of
from penstock.plugins.line_cutter import as_strings
from penstock.plugins.line_reader import BLOCK, LineReader
from penstock.sdk.batches import SourceBatch, record_batch

MOST_BYTES: Final = BLOCK
"""Enough for a batch; the last file may bring a block more."""

VALUE: Final = pa.field("value", pa.string(), nullable=False)


class GatheredLines:
    """Collects what readers hand on, each at most once, until there is enough for a batch."""

    def __init__(self, most_lines: int) -> None:
        self.room = most_lines
        """How many lines more there may be."""
        self._bytes = 0
        self._lines: list[pa.Array] = []
        self._positions: list[tuple[str, int]] = []

    def __bool__(self) -> bool:
        return bool(self._positions)

    @property
    def full(self) -> bool:
        """Whether this is enough."""
        return self.room <= 0 or self._bytes >= MOST_BYTES

    def add(self, reader: LineReader, lines: pa.Array) -> None:
        """Lines just taken from ``reader``: its position is theirs."""
        self._lines.append(lines)
        self._positions.append((reader.path, reader.position))
        self.room -= len(lines)
        self._bytes += lines.nbytes

    def batch(self, topic: str) -> SourceBatch:
        """All of it."""
        lines = self._lines[0] if len(self._lines) == 1 else pa.concat_arrays(self._lines)
        records = record_batch(topic, as_strings(lines), value_field=VALUE)
        offsets = [(partition_of(path), {POSITION: at}) for path, at in self._positions]
        return SourceBatch(records, offsets)
