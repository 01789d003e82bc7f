"""Which file a position belongs to: a name may move to another file while no task runs.

Stored with the position as a short text, ``<inode>:<position>:<checksum>``. The checksum covers the
last bytes before that position: an inode's number may soon belong to another file, and a file may
be emptied and rewritten. Positions without it, as written by Kafka Connect or set by users, belong
to whichever file has the name.
"""

from __future__ import annotations

import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

TAIL: Final = 1024
_FORM: Final = re.compile(r"([0-9]{1,20}):([0-9]{1,20}):([0-9a-f]{8})")


@dataclass(frozen=True)
class FileIdentity:
    """A file whose inode is ``inode``, and the bytes before ``position`` when that was read."""

    inode: int
    position: int
    tail: int

    @staticmethod
    def of(descriptor: int, position: int) -> FileIdentity:
        """The identity of an open file. May raise ``OSError``."""
        return FileIdentity(os.fstat(descriptor).st_ino, position, _tail(descriptor, position))

    @staticmethod
    def parse(text: Any) -> FileIdentity | None:
        """The identity that ``text`` describes; None if it does not describe one."""
        found = _FORM.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            return None
        inode, position, tail = found.groups()
        return FileIdentity(int(inode), int(position), int(tail, 16))

    def text(self) -> str:
        """As ``parse`` takes it."""
        return f"{self.inode}:{self.position}:{self.tail:08x}"

    def fits(self, descriptor: int, position: int) -> bool:
        """Whether an open file is this one and still has what was read from it up to ``position``.

        A user may have moved the position to where the content is unknown.
        """
        status = os.fstat(descriptor)
        if status.st_ino != self.inode or status.st_size < position:
            return False
        return position != self.position or _tail(descriptor, position) == self.tail

    def renamed(self, path: Path) -> Path | None:
        """Another name of this file in the folder of ``path``, if it has one there."""
        try:
            with os.scandir(path.parent) as entries:
                found = (entry.name for entry in entries if entry.inode() == self.inode)
                name = next(found, None)
        except OSError:
            return None
        return None if name is None else path.parent / name


def _tail(descriptor: int, position: int) -> int:
    start = max(0, position - TAIL)
    return zlib.crc32(os.pread(descriptor, position - start, start))
