"""A file that is only ever appended to, or cut back to where it was."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import zlib
from pathlib import Path
from typing import Final

from penstock.plugins.files.file_errors import not_regular, syncing, writing
from penstock.plugins.files.file_jail import EVERYWHERE, Jail
from penstock.sdk.errors import RetriableError

FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
TAIL: Final = 4096
BLOCK: Final = 1 << 20
_NO_FOLDER_SYNC: Final = {errno.EINVAL, errno.ENOTSUP, errno.EACCES}


class AppendedFile:
    """Created if missing. Errors are those of ``file_errors.writing``.

    With ``alone`` an append is all or nothing. Otherwise others append to the same file too, it is
    never truncated, and a failed append may leave its first part behind.
    """

    def __init__(self, path: str, *, alone: bool, jail: Jail = EVERYWHERE) -> None:
        self.path = path
        self._alone = alone
        self._folder_synced = False
        jail.check(path)
        with writing(path):
            self._descriptor = os.open(path, FLAGS, 0o666)
        self._check(jail)
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            os.close(self._descriptor)
            raise not_regular(path)

    def _check(self, jail: Jail) -> None:
        try:
            with writing(self.path):
                jail.check_open(self.path, self._descriptor)
        except BaseException:
            self.close()
            raise

    def lock(self) -> None:
        """Lock the file as its only writer; RetriableError while another process has the lock.

        A cancelled task's process may live on for seconds, and what it still writes would land
        after the point to which its successor has just truncated the file.
        """
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RetriableError(f"{self.path} is still being written", retry_after=0.2) from error

    @property
    def inode(self) -> int:
        """The file's number in its file system."""
        return os.fstat(self._descriptor).st_ino

    @property
    def length(self) -> int:
        """The file's size in bytes."""
        return os.fstat(self._descriptor).st_size

    def tail(self, length: int) -> int:
        """A checksum of the last bytes up to ``length``."""
        start = max(0, length - TAIL)
        return zlib.crc32(os.pread(self._descriptor, length - start, start))

    def lines_after(self, length: int) -> int:
        """How many lines end after ``length``."""
        count = 0
        while block := os.pread(self._descriptor, BLOCK, length):
            count += block.count(b"\n")
            length += len(block)
        return count

    def append(self, data: memoryview) -> None:
        """Write all of ``data`` at the end."""
        before = self.length
        try:
            with writing(self.path):
                self._write(data)
        except BaseException:
            if self._alone:
                self.cut(before)
            raise

    def cut(self, length: int) -> None:
        """Remove everything after ``length``."""
        with writing(self.path):
            os.ftruncate(self._descriptor, length)

    def sync(self) -> None:
        """Return once content and name survive a crash of the host."""
        with syncing(self.path):
            os.fsync(self._descriptor)
            if not self._folder_synced:
                self._sync_folder()

    def close(self) -> None:
        """Close the file. It must not be used afterwards, but may be closed again."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _write(self, data: memoryview) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]

    def _sync_folder(self) -> None:
        folder = os.open(Path(self.path).absolute().parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        except OSError as error:
            if error.errno not in _NO_FOLDER_SYNC:
                raise
        finally:
            os.close(folder)
        self._folder_synced = True
