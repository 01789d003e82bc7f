"""A Java-serialised HashMap<byte[], byte[]>, and nothing else of Java's serialisation.

Kafka Connect's standalone mode keeps its offsets in such a file. Whatever does not look exactly
like one is refused: bytes are taken out, no object is ever made.

Layout (big-endian): the stream's mark and version; the map's class description and its two fields;
a block with its capacity and size; keys and values in turn, each a byte array; the end. The first
array carries the description of its class, the others refer to that.
"""

from __future__ import annotations

import struct

STREAM = b"\xac\xed\x00\x05"
NULL, REFERENCE, CLASS, OBJECT, ARRAY, BLOCK, END = b"p", b"q", b"r", b"s", b"u", b"w", b"x"
MAP_CLASS = (
    CLASS
    + b"\x00\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16\x60\xd1\x03\x00\x02"
    + b"F\x00\nloadFactorI\x00\tthreshold"
    + END
    + NULL
)
BYTES_CLASS = CLASS + b"\x00\x02[B\xac\xf3\x17\xf8\x06\x08\x54\xe0\x02\x00\x00" + END + NULL
# Handles count from this; the map's class has the first, the map the second, byte[] the third.
BYTES_HANDLE = REFERENCE + (0x7E0000 + 2).to_bytes(4, "big")
FIELD_BYTES = 8


class NotAMapError(ValueError):
    """The data is not what Kafka Connect's standalone mode writes; the message says where."""


def parse_map(data: bytes) -> dict[bytes, bytes | None]:
    """The entries; NotAMapError for anything else, also for data that goes on behind the map."""
    reader = _Reader(data)
    reader.expect(STREAM)
    reader.expect(OBJECT + MAP_CLASS)
    reader.take(FIELD_BYTES)
    reader.expect(BLOCK + b"\x08")
    _, size = struct.unpack(">ii", reader.take(8))
    entries = dict(reader.entry() for _ in range(size))
    reader.expect(END)
    reader.expect_end()
    return entries


class _Reader:
    """Goes through the data once."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._array_seen = False

    def take(self, count: int) -> bytes:
        """The next bytes."""
        taken = self._data[self._at : self._at + count]
        if count < 0 or len(taken) < count:
            raise NotAMapError(f"it ends early, at byte {len(self._data)}")
        self._at += count
        return taken

    def expect(self, wanted: bytes) -> None:
        """Go over bytes that can only be these."""
        at = self._at
        if self.take(len(wanted)) != wanted:
            raise NotAMapError(f"there is something else at byte {at}")

    def expect_end(self) -> None:
        """There is nothing more."""
        if self._at != len(self._data):
            raise NotAMapError(f"there is something else at byte {self._at}")

    def entry(self) -> tuple[bytes, bytes | None]:
        """The next key with its value."""
        key = self._bytes()
        if key is None:
            raise NotAMapError(f"there is something else at byte {self._at}")
        return key, self._bytes()

    def _bytes(self) -> bytes | None:
        if self._data[self._at : self._at + 1] == NULL:
            self._at += 1
            return None
        self.expect(ARRAY)
        self.expect(BYTES_HANDLE if self._array_seen else BYTES_CLASS)
        self._array_seen = True
        return self.take(int(struct.unpack(">i", self.take(4))[0]))
