"""A file that is only ever appended to, or cut back to where it was."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import zlib
from pathlib import Path
from typing import Final

from penstock.plugins.file_errors import not_regular, syncing, writing
from penstock.plugins.file_jail import EVERYWHERE, Jail
from penstock.sdk.errors import RetriableError

FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
TAIL: Final = 4096
_NO_FOLDER_SYNC: Final = {errno.EINVAL, errno.ENOTSUP, errno.EACCES}


class AppendedFile:
    """Created if missing. Errors are those of ``file_errors.writing``.

    With ``alone`` an append is all or nothing; otherwise others append to the same file, nothing
    is ever cut, and a failed append may leave its first part behind.
    """

    def __init__(self, path: str, *, alone: bool, jail: Jail = EVERYWHERE) -> None:
        self._path = path
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
            with writing(self._path):
                jail.check_open(self._path, self._descriptor)
        except BaseException:
            self.close()
            raise

    def lock(self) -> None:
        """Be the only writer; RetriableError while another process is.

        A cancelled task's process may live on for seconds, and what it still wrote would land
        behind what its successor has just cut.
        """
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RetriableError(f"{self._path} is still being written", retry_after=0.2) from error

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

    def append(self, data: memoryview) -> None:
        """Write all of ``data`` at the end."""
        before = self.length
        try:
            with writing(self._path):
                self._write(data)
        except BaseException:
            if self._alone:
                self.cut(before)
            raise

    def cut(self, length: int) -> None:
        """Remove what stands behind ``length``."""
        with writing(self._path):
            os.ftruncate(self._descriptor, length)

    def sync(self) -> None:
        """Return once content and name survive a crash of the host."""
        with syncing(self._path):
            os.fsync(self._descriptor)
            if not self._folder_synced:
                self._sync_folder()

    def close(self) -> None:
        """Close the file; not to be used afterwards, but may be closed again."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _write(self, data: memoryview) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]

    def _sync_folder(self) -> None:
        folder = os.open(Path(self._path).absolute().parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        except OSError as error:
            if error.errno not in _NO_FOLDER_SYNC:
                raise
        finally:
            os.close(folder)
        self._folder_synced = True
