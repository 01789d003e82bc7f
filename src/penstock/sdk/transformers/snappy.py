"""Snappy streams, in both framings: the standard one and that of Java's SnappyOutputStream.

PyArrow decompresses single blocks of snappy, not streams. Checksums are not verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

import pyarrow as pa

JAVA: Final = b"\x82SNAPPY\x00"
FRAMED: Final = b"\xff\x06\x00\x00sNaPpY"
LARGEST: Final = 64 << 20
"""Bytes; writers use blocks of 32 or 64 KB."""

_CODEC: Final = pa.Codec("snappy")


def snappy_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The decompressed blocks; ValueError for what is not snappy, or cut off."""
    magic = stream.read(len(JAVA))
    if not magic:
        return
    if magic == JAVA:
        _exactly(stream, 8)  # two version numbers
        yield from _java_blocks(stream)
    elif magic + stream.read(len(FRAMED) - len(JAVA)) == FRAMED:
        yield from _framed_blocks(stream)
    else:
        raise ValueError("it does not begin like a snappy stream")


def _java_blocks(stream: BinaryIO) -> Iterator[bytes]:
    while header := stream.read(4):
        size = int.from_bytes(_whole(header, 4), "big")
        yield _decompress(_exactly(stream, size))


def _framed_blocks(stream: BinaryIO) -> Iterator[bytes]:
    while header := stream.read(4):
        kind, size = _whole(header, 4)[0], int.from_bytes(header[1:], "little")
        data = _exactly(stream, size)
        if kind == 0x00:
            yield _decompress(data[4:])
        elif kind == 0x01:
            yield data[4:]
        elif 0x02 <= kind <= 0x7F:
            raise ValueError(f"a chunk of unknown kind {kind}")


def _decompress(block: bytes) -> bytes:
    try:
        decompressed: bytes = _CODEC.decompress(block, _length(block), asbytes=True)
    except (OSError, pa.ArrowException) as error:
        raise ValueError(str(error)) from None
    return decompressed


def _length(block: bytes) -> int:
    """A block begins with its decompressed length, seven bits a byte."""
    length = 0
    for place, byte in enumerate(block[:5]):
        length |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            if length > LARGEST:
                raise ValueError(f"a block of {length} bytes")
            return length
    raise ValueError("a block without a length")


def _exactly(stream: BinaryIO, size: int) -> bytes:
    if size > LARGEST:
        raise ValueError(f"a block of {size} bytes")
    return _whole(stream.read(size), size)


def _whole(data: bytes, size: int) -> bytes:
    if len(data) < size:
        raise ValueError("it is cut off")
    return data
