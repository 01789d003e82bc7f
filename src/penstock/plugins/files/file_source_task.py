"""Reads the new lines of a task's files, in batches."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar, Final

from penstock.plugins.files.file_choice import chosen_files
from penstock.plugins.files.file_errors import reading
from penstock.plugins.files.file_jail import Jail
from penstock.plugins.files.file_offsets import identity_in, position_in
from penstock.plugins.files.file_share import SHARE, reads
from penstock.plugins.files.file_source_config import BATCH_SIZE, FILE_SOURCE_CONFIG, TOPIC
from penstock.plugins.files.gathered_lines import GatheredLines
from penstock.plugins.files.line_reader import FIRST_BLOCK, LineReader
from penstock.plugins.files.reader_rota import ReaderRota
from penstock.sdk.batches import SourceBatch
from penstock.sdk.distribution.strategy import Share
from penstock.sdk.errors import PenstockError
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.tasks import SourceTask

MOST_LINES: Final = 50_000
USUAL_LINE: Final = 128.0
"""Assumed length of a line in bytes, before the first is read."""
SEARCH_PAUSE: Final = 1.0
"""Seconds between two searches for new files, and for changes in those that are closed."""
SEARCH_RATIO: Final = 10
"""After a slow search the pause is this many times as long: folders may be huge."""


class FileStreamSourceTask(SourceTask):
    """Reads its files in turn, a block of each, and joins their lines into one batch.

    Only one block is in memory: a file's turn ends when all lines read from it were returned.
    """

    connect_class: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSourceTask"

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        settings = FILE_SOURCE_CONFIG.parse(config)
        self._files = chosen_files(config)
        self._jail = Jail.of(config)
        self._share = Share.from_config(SHARE, config)
        self._topic: str = settings[TOPIC]
        # The default is Kafka Connect's and would only cost speed: use it only if the user set it.
        chosen = BATCH_SIZE in config
        self._most_lines = min(MOST_LINES, settings[BATCH_SIZE]) if chosen else MOST_LINES
        self._line_bytes = USUAL_LINE
        self._offsets = offsets
        self._block = bytearray(FIRST_BLOCK)
        self._rota = ReaderRota(self._reader)
        self._search_at = 0.0
        self._trouble: PenstockError | None = None

    def poll(self) -> SourceBatch | None:
        self._raise_trouble()
        if time.monotonic() >= self._search_at:
            self._search()
        gathered = GatheredLines(self._room())
        for _ in range(len(self._rota)):
            self._take_from_first(gathered)
            if gathered.full or self._trouble:
                break
        if gathered:
            self._line_bytes = gathered.line_bytes or self._line_bytes
            return gathered.batch(self._topic)
        self._raise_trouble()
        return None

    def has_news(self) -> bool:
        return self._rota.has_news()

    def stop(self) -> None:
        if hasattr(self, "_rota"):
            self._rota.close()

    def _room(self) -> int:
        """How many lines to take, if they are as long as the last ones were."""
        if self.batch_bytes >= SourceTask.batch_bytes:
            return self._most_lines
        return max(1, min(self._most_lines, int(self.batch_bytes / self._line_bytes)))

    def _reader(self, path: str) -> LineReader:
        position, identity = position_in(self._offsets, path), identity_in(self._offsets, path)
        return LineReader(path, position, self._block, self._jail, identity)

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
        """False if, for example, a folder now has the name of a file that matched a pattern."""
        try:
            return path in self._files.names()
        except OSError:
            return True

    def _raise_trouble(self) -> None:
        """Raise a file's error only after the lines already gathered from others were returned."""
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
        return names if share is None else [name for name in names if reads(share, name)]
