"""Whose turn it is among the files of one task."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from penstock.plugins.files.file_events import Ring
from penstock.plugins.files.line_reader import LineReader

MOST_OPEN: Final = 64


class ReaderRota:
    """Readers that have something to read take turns; few of their files stay open.

    Up to ``MOST_OPEN`` readers are asked in every round, whether they have something or not. If
    there are more, each is closed after its turn, and drops out at the end of its file until
    ``admit`` finds it changed. A reader is never discarded: it knows how far its file was read.
    """

    def __init__(self, make: Callable[[str], LineReader]) -> None:
        self._make = make
        self._readers: dict[str, LineReader] = {}
        self._queue: deque[LineReader] = deque()
        self._queued: set[str] = set()

    def __len__(self) -> int:
        return len(self._queue)

    def admit(self, paths: Iterable[str]) -> None:
        """Give a turn to those of ``paths`` that have something new, or to all if they are few."""
        known = [self._known(path) for path in paths if path not in self._queued]
        few = len(self._readers) <= MOST_OPEN
        for reader in known:
            if few or reader.has_news():
                self._queue.append(reader)
                self._queued.add(reader.path)

    def has_news(self) -> bool:
        """Whether a reader whose turn will come has something to read."""
        return any(reader.has_lines or reader.has_news() for reader in self._queue)

    def ring_on_news(self, ring: Ring) -> bool:
        """Have ``ring`` called at the next change of what ``has_news`` asks about; False if that is
        not certain, or if there is news already."""
        return all(not r.has_lines and r.ring_on_news(ring) for r in self._queue)

    @property
    def first(self) -> LineReader:
        """Whose turn it is."""
        return self._queue[0]

    def advance(self) -> None:
        """End the first reader's turn: it must have returned all lines it has read."""
        reader = self._queue.popleft()
        crowded = len(self._queue) >= MOST_OPEN
        if crowded:
            reader.close()
        if crowded and reader.at_end:
            self._queued.remove(reader.path)
        else:
            self._queue.append(reader)

    def close(self) -> None:
        """Close every file."""
        for reader in self._readers.values():
            reader.close()

    def _known(self, path: str) -> LineReader:
        if path not in self._readers:
            self._readers[path] = self._make(path)
        return self._readers[path]
