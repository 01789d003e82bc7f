"""Checks whether a file has a new line, about once a second while its connector is idle."""

from __future__ import annotations

import logging
import os
import stat
from typing import Final

from penstock.plugins.files.file_identity import FileIdentity
from penstock.plugins.files.file_offsets import identity_in, position_in
from penstock.plugins.files.followed_file import OPEN_FLAGS, Identity, identity_of
from penstock.sdk.offsets import OffsetReader

log = logging.getLogger(__name__)

BLOCK: Final = 1 << 20
MOST: Final = 256 << 20
"""Bytes read in one look; with more, a task has to find out."""


class TailWatch:
    """Looks for a newline after a position, reading each byte only once.

    So an unfinished last line does not wake a task at each look, nor is it read again as it grows.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._quiet: tuple[Identity, int, int] | None = None
        self._tail: tuple[Identity, int] | None = None
        self._scanned = 0
        self._truncated: tuple[Identity, int] | None = None
        self._missing = False

    def sees_line_after(self, position: int, identity: FileIdentity | None = None) -> bool:
        """Also True if the file was replaced, once if it was truncated, and for any problem that
        only a task can report."""
        try:
            status = os.stat(self._path)  # noqa: PTH116 (a third quicker than of a Path)
            if self._missing:
                self._tell_found()
            if identity is not None and status.st_ino != identity.inode:
                return True
            seen = identity_of(status), status.st_size, position
            if seen == self._quiet:
                return False
            self._quiet = None if self._sees(status, position) else seen
            return self._quiet is None
        except FileNotFoundError:
            self._tell_missing()
            return False
        except OSError:
            return True

    def _tell_missing(self) -> None:
        """Once: Kafka Connect says so each time, and people look at the log for this."""
        if not self._missing:
            self._missing = True
            log.warning("%s does not exist: waiting until it is created", self._path)

    def _tell_found(self) -> None:
        self._missing = False
        log.info("%s exists now", self._path)

    def _sees(self, status: os.stat_result, position: int) -> bool:
        if stat.S_ISCHR(status.st_mode):
            return False  # read as an empty file, see FollowedFile
        if not stat.S_ISREG(status.st_mode):
            return True
        if status.st_size >= position:
            return self._scan(status, position)
        # Once, so that a task commits the new start; afterwards like any other file.
        seen, self._truncated = self._truncated, (identity_of(status), position)
        return seen != self._truncated or self._scan(status, 0)

    def _scan(self, status: os.stat_result, start: int) -> bool:
        tail = identity_of(status), start
        if tail != self._tail or status.st_size < self._scanned:
            self._tail, self._scanned = tail, start
        return status.st_size > self._scanned and self._newline_ahead()

    def _newline_ahead(self) -> bool:
        descriptor = os.open(self._path, OPEN_FLAGS)
        try:
            return self._read_on(descriptor, self._scanned + MOST)
        finally:
            os.close(descriptor)

    def _read_on(self, descriptor: int, most: int) -> bool:
        while self._scanned < most:
            block = os.pread(descriptor, BLOCK, self._scanned)
            if not block or b"\n" in block:
                return bool(block)
            self._scanned += len(block)
        return True


class TailWatches:
    """A watch for each of many files; for idle files it costs one ``stat`` each."""

    def __init__(self) -> None:
        self._watches: dict[str, TailWatch] = {}
        self._positions: list[tuple[TailWatch, int, FileIdentity | None]] = []
        self._asked: tuple[list[str], OffsetReader] | None = None

    def see_line(self, paths: list[str], offsets: OffsetReader) -> bool:
        """Whether any of ``paths`` has a line after its offset; other watches are dropped.

        ``UserError`` for an invalid offset.
        """
        asked = self._asked
        if asked is None or offsets is not asked[1] or paths != asked[0]:
            self._prepare(paths, offsets)
        return any(
            watch.sees_line_after(position, identity)
            for watch, position, identity in self._positions
        )

    def _prepare(self, paths: list[str], offsets: OffsetReader) -> None:
        """Parsed once while the worker asks with the same files and the same offsets."""
        old = self._watches
        self._watches = {path: old.get(path) or TailWatch(path) for path in paths}
        self._positions = [
            (watch, position_in(offsets, path), identity_in(offsets, path))
            for path, watch in self._watches.items()
        ]
        self._asked = paths, offsets
