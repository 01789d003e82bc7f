"""One file name, read to the end for ever, whatever is done to the file behind it."""

from __future__ import annotations

import os
import stat
import time
from enum import Enum
from io import FileIO
from pathlib import Path
from typing import Final

from penstock.plugins.file_errors import not_regular
from penstock.plugins.file_jail import EVERYWHERE, Jail

OPEN_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""Without O_NONBLOCK, opening a pipe would wait for its writer."""

GRACE: Final = 0.5
"""Seconds for which a replaced file is still read while the new one is empty: log rotation makes
the new file first and then tells the writer to change over."""

Identity = tuple[int, int]


def identity_of(status: os.stat_result) -> Identity:
    """The same for two names or handles of one file, as long as that file exists."""
    return status.st_dev, status.st_ino


class Change(Enum):
    """What happened to a file while it was being read."""

    NONE = "nothing, or it was deleted and its handle lives on"
    SHRUNK = "it is shorter than what was read of it"
    REPLACED = "another file has its name"


class FollowedFile:
    """Reads forward from ``position``, the start of the first line not yet handed on.

    A file shorter than ``position`` was truncated or replaced while nobody looked, and is read
    from its start. All calls may raise ``OSError``; call ``close`` then, to go on from
    ``position`` later.
    """

    def __init__(self, path: str, position: int, jail: Jail = EVERYWHERE) -> None:
        self._path = Path(path)
        self._jail = jail
        self.position = position
        self._at = position
        self._seen = position
        self._handle: FileIO | None = None
        self._identity: Identity | None = None
        self._replaced_at: float | None = None

    def read_into(self, block: bytearray) -> int:
        """The next bytes; 0 at the end, and while there is no such file."""
        handle = self._handle or self._open()
        if handle is None:
            return 0
        count = handle.readinto(block) or 0
        self._at += count
        return count

    def change(self) -> Change:
        """What happened to the file; to be asked at its end, when all its lines are handed on."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return Change.NONE
        if self._handle is None:
            return Change.NONE
        if identity_of(now) != self._identity:
            return Change.REPLACED if self._moved_on(now) else Change.NONE
        return Change.SHRUNK if now.st_size < self._at else Change.NONE

    def has_news(self) -> bool:
        """Whether a closed file is another one, or not as long, as when it was read to its end."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        known = self._identity in (None, identity_of(now))
        return not known or now.st_size != self._seen

    def follow(self, change: Change) -> None:
        """Go on in the file that now has the name: a new one from its start, the old one from
        ``position`` if it still has that."""
        self.close()
        if change is Change.REPLACED:
            self.position, self._identity = 0, None

    def close(self) -> None:
        """Close the handle; the next read opens the file again at ``position``."""
        handle, self._handle = self._handle, None
        self._seen, self._at, self._replaced_at = self._at, self.position, None
        if handle is not None:
            handle.close()

    def _open(self) -> FileIO | None:
        try:
            descriptor = os.open(self._path, OPEN_FLAGS)
        except FileNotFoundError:
            return None
        handle = FileIO(descriptor)
        try:
            self._jail.check_open(str(self._path), descriptor)
            self._place(handle)
        except BaseException:
            handle.close()
            raise
        self._handle = handle
        return handle

    def _place(self, handle: FileIO) -> None:
        status = os.fstat(handle.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise not_regular(str(self._path))
        known = self._identity in (None, identity_of(status))
        if not known or status.st_size < self.position:
            self.position = 0
        self._identity = identity_of(status)
        self._at = handle.seek(self.position)

    def _moved_on(self, new: os.stat_result) -> bool:
        """Whether nobody writes the old file any more."""
        now = time.monotonic()
        self._replaced_at = now if self._replaced_at is None else self._replaced_at
        return new.st_size > 0 or now - self._replaced_at >= GRACE
