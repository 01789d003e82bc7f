"""One file's new lines, a column of them at a time."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from penstock.plugins.files.file_errors import reading
from penstock.plugins.files.file_events import FileBell, Ring
from penstock.plugins.files.file_identity import FileIdentity
from penstock.plugins.files.file_jail import EVERYWHERE, Jail
from penstock.plugins.files.followed_file import Change, FollowedFile
from penstock.plugins.files.line_cutter import NO_LINES, LineCutter
from penstock.sdk.errors import PenstockError, UserError

FIRST_BLOCK: Final = 64 << 10
"""Enough for what most files get between two reads."""
BLOCK: Final = 4 << 20
LONGEST_LINE: Final = (1 << 31) - 1 - 2 * BLOCK
"""An Arrow string column holds less than 2 GiB, and Kafka has no record that long. The limit leaves
room for a block after the line, and for a batch of other files' lines before it."""


class LineReader:
    """Returns every line once its newline is there; follows rotation and truncation.

    ``position`` belongs to the lines taken so far: always the start of a line in the file that
    now has the name, so another task can continue there. ``block`` is the read buffer, and may be
    shared with others: nothing is left in it between two calls. It grows once it was filled.
    """

    def __init__(
        self,
        path: str,
        position: int,
        block: bytearray,
        jail: Jail = EVERYWHERE,
        identity: FileIdentity | None = None,
    ) -> None:
        self.path = path
        self.position = position
        self.identity = identity
        """The identity of the file that ``position`` is in, if known."""
        self.at_end = False
        """Whether the last read has seen the end of the file."""
        self._block = block
        self._file = FollowedFile(path, position, jail, identity)
        self._cutter = LineCutter()
        self._bell = FileBell(path)

    @property
    def has_lines(self) -> bool:
        """Whether there are lines in memory that ``take`` has not returned yet."""
        return self._cutter.has_lines

    def take(self, limit: int) -> pa.Array | None:
        """At most ``limit`` lines, as bytes; none at all after a start from 0; None at the end."""
        try:
            with reading(self.path):
                return self._next_lines(limit)
        except PenstockError:
            self.close()
            self.at_end = False
            raise

    def has_news(self) -> bool:
        """Whether it is worth taking lines from a reader that is at its end."""
        return self._file.has_news()

    def ring_on_news(self, ring: Ring) -> bool:
        """Have ``ring`` called at the file's next change; False if that is not certain, or if
        there is news already."""
        return self._bell.arm(ring) and not self.has_news()

    def close(self) -> None:
        """Close the file and free memory; the next ``take`` continues at ``position``."""
        self._bell.close()
        self._cutter.clear()
        self._file.close()

    def _next_lines(self, limit: int) -> pa.Array | None:
        while (lines := self._cutter.take(limit)) is None:
            if not self._read_block():
                return self._at_end(limit)
        self._file.position += lines.size
        return self._told(lines.values)

    def _read_block(self) -> bool:
        size = self._fill_block()
        self.at_end = size < len(self._block)
        self._cutter.feed(self._block, size)
        if self._cutter.pending > LONGEST_LINE:
            raise UserError(
                f"The line that starts at byte {self._file.position} of {self.path} is longer "
                "than 2 GiB. Alter the connector's offset to a position after it."
            )
        return size > 0

    def _fill_block(self) -> int:
        """Read as much as fits, into a larger block if the first is filled."""
        size = self._file.read_into(self._block)
        if size == len(self._block) < BLOCK:
            self._block.extend(bytes(BLOCK - size))
            with memoryview(self._block) as view, view[size:] as rest:
                size += self._file.read_into(rest)
        return size

    def _at_end(self, limit: int) -> pa.Array | None:
        change = self._file.change()
        if change is Change.NONE:
            return self._rewound()
        if change is Change.REPLACED and self._read_block():
            return self._next_lines(limit)  # written between the last read and the change of file
        last = self._cutter.end() if change is Change.REPLACED else b""
        self._cutter.clear()
        self._file.follow(change)
        self.at_end = False
        return self._told(pa.array([last], pa.binary())) if last else self._next_lines(limit)

    def _rewound(self) -> pa.Array | None:
        """A start from 0 is committed even without a line, so that the next task knows of it."""
        if self._file.position >= self.position:
            return None
        return self._told(NO_LINES)

    def _told(self, lines: pa.Array) -> pa.Array:
        self.position = self._file.position
        self.identity = self._file.identify()
        return lines
