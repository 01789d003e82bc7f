"""Turns blocks of a file into columns of lines, without a Python object for each line."""

from __future__ import annotations

from array import array
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

NEWLINE: Final = b"\n"
NO_LINES: Final = pa.array([], pa.binary())
FEW_BYTES: Final = 1024
"""Arrow's functions take as long for a few lines as for a thousand, ten times as long as Python."""


class Lines(NamedTuple):
    """Some lines as a binary column, and how many bytes of the file they were, ends included."""

    values: pa.Array
    size: int


class LineCutter:
    """Cuts blocks at their newlines and keeps what comes after the last one for the next block.

    Only ``\\n`` ends a line. Call ``feed`` only when ``take`` has nothing more.
    """

    def __init__(self) -> None:
        self._lines = NO_LINES
        # Pieces, joined once the newline arrives: a line over many blocks is copied once.
        self._pieces: list[bytes] = []
        self.pending = 0
        """Bytes of the line that has no newline yet."""

    def feed(self, block: bytearray, size: int) -> None:
        """The next ``size`` bytes of the file, in ``block``, which may be reused afterwards."""
        with memoryview(block) as view:
            cut = block.rfind(NEWLINE, 0, size)
            if cut >= 0:
                self._lines = _split(b"".join([*self._pieces, view[:cut]]))
                self.clear_pending()
            self._keep(bytes(view[cut + 1 : size]))

    @property
    def has_lines(self) -> bool:
        """Whether ``take`` has more."""
        return len(self._lines) > 0

    def take(self, limit: int) -> Lines | None:
        """At most ``limit`` whole lines; None when there are none."""
        if not self.has_lines:
            return None
        values = self._lines.slice(0, limit)
        self._lines = self._lines.slice(limit)
        return Lines(values, _raw_size(values))

    def end(self) -> bytes:
        """The last line, without a newline, once it is known that none will come."""
        last = b"".join(self._pieces)
        self.clear_pending()
        return last

    def clear(self) -> None:
        """Forget everything."""
        self._lines = NO_LINES
        self.clear_pending()

    def clear_pending(self) -> None:
        """Forget the line that has no newline yet."""
        self._pieces = []
        self.pending = 0

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self.pending += len(piece)


def as_strings(values: pa.Array) -> pa.Array:
    """A binary column as strings; invalid UTF-8 becomes U+FFFD, as in Java."""
    if values.nbytes < FEW_BYTES:
        return pa.array([str(each, "utf-8", "replace") for each in values.to_pylist()], pa.string())
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        # Joined and split again: no invalid UTF-8 sequence extends past a newline.
        text = _joined(values).decode("utf-8", "replace").encode()
        return _split(text).cast(pa.string())


def _split(text: bytes) -> pa.Array:
    if len(text) < FEW_BYTES:
        return pa.array(text.split(NEWLINE), pa.binary())
    bounds = pa.py_buffer(array("i", [0, len(text)]))
    whole = pa.Array.from_buffers(pa.binary(), 1, [None, bounds, pa.py_buffer(text)])
    return pc.split_pattern(whole, NEWLINE).values


def _joined(lines: pa.Array) -> bytes:
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return bytes(pc.binary_join(whole, NEWLINE)[0].as_buffer())


def _raw_size(lines: pa.Array) -> int:
    bounds = memoryview(lines.buffers()[1]).cast("b").cast("i")
    first, last = lines.offset, lines.offset + len(lines)
    return int(bounds[last] - bounds[first] + len(lines))
