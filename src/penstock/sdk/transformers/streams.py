"""Streams of bytes: made of chunks, decompressed, and cut into lines."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

import pyarrow as pa

from penstock.sdk.errors import ConfigError, ObjectError
from penstock.sdk.objects import ObjectContext
from penstock.sdk.transformers.snappy import snappy_blocks

BLOCK: Final = 1 << 20
LONGEST_LINE: Final = 1 << 28
"""Bytes; Kafka takes no record that large, and a file without newlines must not fill memory."""


class _Chunks(io.RawIOBase):
    def __init__(self, chunks: Iterable[bytes | memoryview]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as called by io
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def stream_of(chunks: Iterable[bytes | memoryview]) -> BinaryIO:
    """A stream over chunks of bytes as they come, from a download say."""
    return io.BufferedReader(_Chunks(chunks), BLOCK)


def decompressed(stream: BinaryIO, compression: str) -> BinaryIO:
    """``stream`` without its outer compression: none, gzip, snappy or zstd.

    Reading what is damaged or cut off raises ``CorruptStream``.
    """
    if compression not in COMPRESSIONS:
        allowed = ", ".join(COMPRESSIONS)
        raise ConfigError(f"Unknown compression {compression}: it must be one of {allowed}.")
    open_stream = COMPRESSIONS[compression]
    return stream if open_stream is None else stream_of(open_stream(stream))


class CorruptStream(ValueError):  # noqa: N818 (says what is wrong; becomes an ObjectError)
    """Compressed data that cannot be what was written."""


def _by_arrow(codec: str) -> Callable[[BinaryIO], Iterator[bytes]]:
    def chunks(stream: BinaryIO) -> Iterator[bytes]:
        first = stream.read(1)
        if not first:
            return  # an empty object, compressed or not, has no records
        whole = pa.PythonFile(stream_of(_first_and_rest(first, stream)), mode="r")
        opened = pa.CompressedInputStream(whole, codec)
        while True:
            try:
                chunk = opened.read(BLOCK)
            except OSError as error:
                # Arrow raises just this class; storage that fails raises a more exact one.
                if type(error) is OSError:
                    raise CorruptStream(f"its {codec} data is damaged: {error}") from None
                raise
            if not chunk:
                return
            yield chunk

    return chunks


def _first_and_rest(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield first
    while chunk := stream.read(BLOCK):
        yield chunk


def _snappy(stream: BinaryIO) -> Iterator[bytes]:
    try:
        yield from snappy_blocks(stream)
    except ValueError as error:
        raise CorruptStream(f"its snappy data is damaged: {error}") from None


COMPRESSIONS: Final[dict[str, Callable[[BinaryIO], Iterator[bytes]] | None]] = {
    "none": None,
    "gzip": _by_arrow("gzip"),
    "snappy": _snappy,
    "zstd": _by_arrow("zstd"),
}


def line_blocks(stream: BinaryIO, block: int = BLOCK) -> Iterator[list[bytes]]:
    """Lines without their newlines, as many at a time as a block holds; the last may have none."""
    parts: list[bytes] = []
    size = 0
    while data := stream.read(block):
        head, newline, tail = data.rpartition(b"\n")
        if newline:
            yield b"".join([*parts, head]).split(b"\n")
            parts, size = [], 0
        parts.append(tail)
        size += len(tail)
        if size > LONGEST_LINE:
            raise CorruptStream(f"a line is longer than {LONGEST_LINE >> 20} MB")
    if last := b"".join(parts):
        yield [last]


@contextmanager
def reading(context: ObjectContext, position: Callable[[], int]) -> Iterator[None]:
    """Damage of the object becomes an ``ObjectError`` with the number of whole records."""
    try:
        yield
    except CorruptStream as error:
        raise damaged(context, position(), str(error)) from None


def damaged(context: ObjectContext, position: int, why: str) -> ObjectError:
    """The error for an object whose rest cannot be read."""
    return ObjectError(
        f"Object {context.name} cannot be read beyond record {position}: {why}. Replace the "
        "object, or set its offset so that it is passed over.",
        position=position,
    )
