"""One file name, followed like ``tail -F``, through rotation and truncation."""

from __future__ import annotations

import logging
import os
import stat
import time
from contextlib import suppress
from enum import Enum
from io import FileIO
from pathlib import Path
from typing import Final

from penstock.plugins.files.file_errors import beyond_the_end, not_regular
from penstock.plugins.files.file_identity import FileIdentity
from penstock.plugins.files.file_jail import EVERYWHERE, Jail
from penstock.sdk.errors import PenstockError

log = logging.getLogger(__name__)

OPEN_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""Without O_NONBLOCK, opening a pipe would wait for its writer."""

GRACE: Final = 0.5
"""Seconds for which a replaced file is still read while the new one is empty: log rotation creates
the new file first and then tells the writer to switch to it."""

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
    """Reads forward from ``position``, the start of the first line not yet returned.

    ``identity`` says which file that position is in. If that file was renamed within its folder,
    its rest is read first; if it is gone, or its content has changed, the file that now has the
    name is read from its start. Without an identity, a position beyond the end is a
    ``UserError``. All calls may raise ``OSError``; call ``close`` then, to continue from
    ``position`` later.
    """

    def __init__(
        self,
        path: str,
        position: int,
        jail: Jail = EVERYWHERE,
        identity: FileIdentity | None = None,
    ) -> None:
        self._path = Path(path)
        self._jail = jail
        self.position = position
        self._at = position
        self._seen = position
        self._handle: FileIO | None = None
        self._identity: Identity | None = None
        self._kept = identity
        self._drained = False
        self._replaced_at: float | None = None

    def read_into(self, block: bytearray | memoryview) -> int:
        """Read the next bytes; 0 at the end, and while the file does not exist."""
        handle = self._handle or self._open()
        if handle is None:
            return 0
        count = handle.readinto(block) or 0
        self._at += count
        return count

    def identify(self) -> FileIdentity | None:
        """The identity to store with ``position``; None if it is not known."""
        self._kept = None
        if self._handle is not None and self.position:
            # An error here is no reason to lose the lines before the position.
            with suppress(OSError):
                self._kept = FileIdentity.of(self._handle.fileno(), self.position)
        return self._kept

    def change(self) -> Change:
        """What happened to the file; call this at its end, when all its lines were returned."""
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
        """Whether the file was replaced or changed length since it was read to its end."""
        try:
            now = os.stat(self._path)  # noqa: PTH116 (a third quicker than of a Path)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        known = self._identity in (None, identity_of(now))
        seen = self._seen if self._handle is None else self._at
        return not known or now.st_size != seen

    def follow(self, change: Change) -> None:
        """Continue in the file that now has the name: a new one from its start, the old one from
        ``position`` if it still has that."""
        self.close()
        self._drained = True
        if change is Change.REPLACED:
            self.position, self._identity, self._kept = 0, None, None

    def close(self) -> None:
        """Close the handle; the next read opens the file again at ``position``."""
        handle, self._handle = self._handle, None
        self._seen, self._at, self._replaced_at = self._at, self.position, None
        if handle is not None:
            handle.close()

    def _open(self) -> FileIO | None:
        handle = self._opened(self._path)
        if handle is None:
            return None
        handle = self._renamed(handle) or handle
        try:
            self._place(handle)
        except BaseException:
            handle.close()
            raise
        self._handle = handle
        return handle

    def _opened(self, path: Path) -> FileIO | None:
        try:
            descriptor = os.open(path, OPEN_FLAGS)
        except FileNotFoundError:
            return None
        handle = FileIO(descriptor)
        try:
            self._jail.check_open(str(path), descriptor)
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISCHR(mode):
                raise not_regular(str(path))
        except BaseException:
            handle.close()
            raise
        if stat.S_ISCHR(mode):
            # /dev/null is how Kafka Connect is given a source without records. Other devices have
            # no positions to come back to, and /dev/zero never ends: none of them is read.
            handle.close()
            return None
        return handle

    def _renamed(self, found: FileIO) -> FileIO | None:
        """The file that ``position`` is in, if it is not ``found``, which is then closed."""
        kept, position = self._kept, self.position
        if kept is None or not position or kept.inode == os.fstat(found.fileno()).st_ino:
            return None
        path = kept.renamed(self._path)
        try:
            old = None if path is None else self._opened(path)
        except (OSError, PenstockError) as error:
            log.warning("the rest of %s cannot be read under its new name: %s", path, error)
            return None
        if old is None or kept.fits(old.fileno(), position):
            if old is not None:
                log.info("%s was renamed to %s: reading the rest of it first", self._path, path)
                found.close()
            return old
        old.close()
        return None

    def _place(self, handle: FileIO) -> None:
        status = os.fstat(handle.fileno())
        if self.position and not self._holds_position(handle, status):
            log.log(
                logging.INFO if self._drained else logging.WARNING,
                "%s was truncated, replaced or rewritten since it was read up to byte %d: reading "
                "it from its start. Anything appended after that byte was not read",
                self._path,
                self.position,
            )
            self.position = 0
        self._drained = False
        self._identity = identity_of(status)
        self._at = handle.seek(self.position)

    def _holds_position(self, handle: FileIO, status: os.stat_result) -> bool:
        if self._kept is not None:
            return self._kept.fits(handle.fileno(), self.position)
        if self._identity is None and status.st_size < self.position:
            raise beyond_the_end(str(self._path), self.position, status.st_size)
        known = self._identity in (None, identity_of(status))
        return known and status.st_size >= self.position

    def _moved_on(self, new: os.stat_result) -> bool:
        """Whether the old file is no longer being written."""
        now = time.monotonic()
        self._replaced_at = now if self._replaced_at is None else self._replaced_at
        return new.st_size > 0 or now - self._replaced_at >= GRACE
