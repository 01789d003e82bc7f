"""Reads a file's new lines, in batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from penstock.plugins.file_errors import missing_file, reading, required_path
from penstock.plugins.file_offsets import POSITION, partition_of, position_in
from penstock.plugins.file_source_config import BATCH_SIZE, FILE, FILE_SOURCE_CONFIG, TOPIC
from penstock.plugins.followed_file import Change, FollowedFile
from penstock.plugins.line_cutter import LineCutter, as_strings
from penstock.sdk.batches import SourceBatch, record_batch
from penstock.sdk.errors import PenstockError, UserError
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.tasks import SourceTask

BLOCK: Final = 4 << 20
MOST_LINES: Final = 50_000
LONGEST_LINE: Final = (1 << 31) - 1 - BLOCK
"""An Arrow string column holds less than 2 GiB, and Kafka no record that long."""

VALUE: Final = pa.field("value", pa.string(), nullable=False)


class FileStreamSourceTask(SourceTask):
    """Hands on every line once its newline is there; follows rotation and truncation.

    A batch's position is always the start of a line in the file that now has the name, so that
    another task can go on there.
    """

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        settings = FILE_SOURCE_CONFIG.parse(config)
        self._path = required_path(settings[FILE], missing_file("read", "standard input"))
        self._topic: str = settings[TOPIC]
        # The default is Kafka Connect's and would only cost speed: obey what a user chose.
        chosen = BATCH_SIZE in config
        self._most_lines = min(MOST_LINES, settings[BATCH_SIZE]) if chosen else MOST_LINES
        self._told = position_in(offsets, self._path)
        self._file = FollowedFile(self._path, self._told)
        self._cutter = LineCutter()
        self._block = bytearray(BLOCK)

    def poll(self) -> SourceBatch | None:
        try:
            with reading(self._path):
                return self._next_lines()
        except PenstockError:
            self._cutter.clear()
            self._file.close()
            raise

    def stop(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def _next_lines(self) -> SourceBatch | None:
        while (lines := self._cutter.take(self._most_lines)) is None:
            if not self._read_block():
                return self._at_end()
        self._file.position += lines.size
        return self._batch(lines.values)

    def _read_block(self) -> bool:
        size = self._file.read_into(self._block)
        self._cutter.feed(self._block, size)
        if self._cutter.pending > LONGEST_LINE:
            raise UserError(
                f"The line that starts at byte {self._file.position} of {self._path} is longer "
                "than 2 GiB. Alter the connector's offset to a position behind it."
            )
        return size > 0

    def _at_end(self) -> SourceBatch | None:
        change = self._file.change()
        if change is Change.NONE:
            return self._rewound()
        if change is Change.REPLACED and self._read_block():
            return self._next_lines()  # written between the last read and the change of file
        last = self._cutter.end() if change is Change.REPLACED else b""
        self._cutter.clear()
        self._file.follow(change)
        return self._batch(pa.array([last], pa.binary())) if last else self._next_lines()

    def _rewound(self) -> SourceBatch | None:
        """A start from 0 is committed even without a line, or the next task would not know."""
        if self._file.position >= self._told:
            return None
        return self._batch(pa.array([], pa.binary()))

    def _batch(self, lines: pa.Array) -> SourceBatch:
        self._told = self._file.position
        records = record_batch(self._topic, as_strings(lines), value_field=VALUE)
        return SourceBatch(records, [(partition_of(self._path), {POSITION: self._told})])
