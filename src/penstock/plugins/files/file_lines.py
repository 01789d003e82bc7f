"""The new lines of a task's files, in batches, for as long as there are any."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from penstock.plugins.files.file_choice import Files
from penstock.plugins.files.file_errors import reading
from penstock.plugins.files.file_share import reads
from penstock.plugins.files.gathered_lines import GatheredLines
from penstock.plugins.files.line_reader import LineReader
from penstock.plugins.files.reader_rota import ReaderRota
from penstock.sdk.batches import SourceBatch
from penstock.sdk.distribution.strategy import Share
from penstock.sdk.errors import PenstockError

USUAL_LINE: Final = 128.0
"""Assumed length of a line in bytes, before the first is read."""
SEARCH_PAUSE: Final = 1.0
"""Seconds between two searches for new files, and for changes in those that are closed."""
SEARCH_RATIO: Final = 10
"""After a slow search the pause is this many times as long: folders may be huge."""


class FileLines(Iterator[SourceBatch | None]):
    """Reads files in turn, a block of each, and joins their lines into one batch; None when dry.

    Only one block is in memory: a file's turn ends when all lines read from it were returned.
    """

    def __init__(
        self,
        topic: str,
        files: Files,
        share: Share | None,
        make: Callable[[str], LineReader],
        room: Callable[[float], int],
    ) -> None:
        """``make`` opens a file where it was left. ``room``: how many lines of such a length fit
        into the next batch."""
        self._topic, self._files, self._share, self._room = topic, files, share, room
        self.rota = ReaderRota(make)
        self._line_bytes = USUAL_LINE
        self._search_at = 0.0
        self._trouble: PenstockError | None = None

    def __next__(self) -> SourceBatch | None:
        self._raise_trouble()
        if time.monotonic() >= self._search_at:
            self._search()
        gathered = GatheredLines(self._room(self._line_bytes))
        for _ in range(len(self.rota)):
            self._take_from_first(gathered)
            if gathered.full or self._trouble:
                break
        if gathered:
            self._line_bytes = gathered.line_bytes or self._line_bytes
            return gathered.batch(self._topic)
        self._raise_trouble()
        return None

    def close(self) -> None:
        """Close every file."""
        self.rota.close()

    def _take_from_first(self, gathered: GatheredLines) -> None:
        reader = self.rota.first
        try:
            lines = reader.take(gathered.room)
        except PenstockError as error:
            self._trouble = error if self._is_meant(reader.path) else None
        else:
            if lines is not None:
                gathered.add(reader, lines)
        if not reader.has_lines:
            self.rota.advance()

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
            self.rota.admit(self._owned())
        took = time.monotonic() - began
        self._search_at = began + max(SEARCH_PAUSE, SEARCH_RATIO * took)

    def _owned(self) -> list[str]:
        names, share = self._files.names(), self._share
        return names if share is None else [name for name in names if reads(share, name)]
