"""Reads the new lines of a task's files, in batches."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar, Final

from penstock.plugins.file_choice import chosen_files
from penstock.plugins.file_errors import reading
from penstock.plugins.file_jail import Jail
from penstock.plugins.file_offsets import position_in
from penstock.plugins.file_share import Share
from penstock.plugins.file_source_config import BATCH_SIZE, FILE_SOURCE_CONFIG, TOPIC
from penstock.plugins.gathered_lines import GatheredLines
from penstock.plugins.line_reader import BLOCK, LineReader
from penstock.plugins.reader_rota import ReaderRota
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import PenstockError
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.tasks import SourceTask

MOST_LINES: Final = 50_000
SEARCH_PAUSE: Final = 1.0
"""Seconds between two searches for new files, and for changes in those that are closed."""
SEARCH_RATIO: Final = 10
"""The pause is this many times as long as the search, if that took long: folders may be huge."""


class FileStreamSourceTask(SourceTask):
    """Reads its files in turn, a block of each, and joins what they give into one batch.

    Only one block is in memory: a file's turn ends when all lines read from it are handed on.
    """

    connect_class: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSourceTask"

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        settings = FILE_SOURCE_CONFIG.parse(config)
        self._files = chosen_files(config)
        self._jail = Jail.of(config)
        self._share = Share.from_config(config)
        self._topic: str = settings[TOPIC]
        # The default is Kafka Connect's and would only cost speed: obey what a user chose.
        chosen = BATCH_SIZE in config
        self._most_lines = min(MOST_LINES, settings[BATCH_SIZE]) if chosen else MOST_LINES
        self._offsets = offsets
        self._block = bytearray(BLOCK)
        self._rota = ReaderRota(self._reader)
        self._search_at = 0.0
        self._trouble: PenstockError | None = None

    def poll(self) -> SourceBatch | None:
        self._raise_trouble()
        if time.monotonic() >= self._search_at:
            self._search()
        gathered = GatheredLines(self._most_lines)
        for _ in range(len(self._rota)):
            self._take_from_first(gathered)
            if gathered.full or self._trouble:
                break
        if gathered:
            return gathered.batch(self._topic)
        self._raise_trouble()
        return None

    def stop(self) -> None:
        if hasattr(self, "_rota"):
            self._rota.close()

    def _reader(self, path: str) -> LineReader:
        return LineReader(path, position_in(self._offsets, path), self._block, self._jail)

    def _take_from_first(self, gathered: GatheredLines) -> None:
        reader = self._rota.first
        try:
            lines = reader.take(gathered.room)
        except PenstockError as error:
            self._trouble = error if self._is_meant(reader.path) else None
        else:
            if lines is not None:
                gathered.add(reader, lines)
        if not reader.has_lines:
            self._rota.advance()

    def _is_meant(self, path: str) -> bool:
        """Not any more if a folder, say, now has the name of a file that matched a pattern."""
        try:
            return path in self._files.names()
        except OSError:
            return True

    def _raise_trouble(self) -> None:
        """One file's error comes after the lines that were gathered from others, which count."""
        trouble, self._trouble = self._trouble, None
        if trouble is not None:
            raise trouble

    def _search(self) -> None:
        began = time.monotonic()
        with reading(self._files.folder):
            self._rota.admit(self._owned())
        took = time.monotonic() - began
        self._search_at = began + max(SEARCH_PAUSE, SEARCH_RATIO * took)

    def _owned(self) -> list[str]:
        names, share = self._files.names(), self._share
        return names if share is None else [name for name in names if share.owns(name)]
