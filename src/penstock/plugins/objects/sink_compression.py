"""Compresses an object as a whole, as it is written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import IO, Any, Final

import pyarrow as pa

JAVA_SNAPPY: Final = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") * 2
BLOCK: Final = 32 * 1024


class Output(ABC):
    """Where an object's bytes go, from the first to the last."""

    @abstractmethod
    def write(self, data: Any, /) -> int:
        """Add bytes."""

    @abstractmethod
    def close(self) -> None:
        """Write what is missing at the end; what is below stays open."""

    def seekable(self) -> bool:
        """Asked by writers that would go back."""
        return False

    def flush(self) -> None:  # noqa: B027 (some writers ask for it)
        """Nothing to do: the file is read by this process, and at its end."""


class PlainOutput(Output):
    """As they are."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: Any, /) -> int:
        return self._file.write(data)

    def close(self) -> None:
        """Nothing is missing."""


class ArrowOutput(Output):
    """gzip and zstd."""

    def __init__(self, file: IO[bytes], codec: str) -> None:
        self._below = KeptOpen(file)
        self._stream = pa.CompressedOutputStream(pa.PythonFile(self._below, mode="w"), codec)

    def write(self, data: Any, /) -> int:
        self._stream.write(data)
        return len(data)

    def close(self) -> None:
        self._stream.close()


class KeptOpen:
    """A file that stays open when Arrow closes it."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write
        self.tell = file.tell

    def flush(self) -> None:
        """Nothing to do: the file is read by this process."""

    def close(self) -> None:
        """It stays open."""


class SnappyOutput(Output):
    """In the framing of Java's SnappyOutputStream, which Aiven's connectors use."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._rest = bytearray()
        self._codec = pa.Codec("snappy")
        file.write(JAVA_SNAPPY)

    def write(self, data: Any, /) -> int:
        self._rest += data
        whole = len(self._rest) - len(self._rest) % BLOCK
        for start in range(0, whole, BLOCK):
            self._block(bytes(self._rest[start : start + BLOCK]))
        del self._rest[:whole]
        return len(data)

    def _block(self, data: bytes) -> None:
        packed = self._codec.compress(data, asbytes=True)
        self._file.write(len(packed).to_bytes(4, "big") + packed)

    def close(self) -> None:
        if self._rest:
            self._block(bytes(self._rest))
            self._rest.clear()


def compressed(file: IO[bytes], compression: str) -> Output:
    """What compresses into ``file``: none, gzip, snappy or zstd."""
    if compression == "none":
        return PlainOutput(file)
    return SnappyOutput(file) if compression == "snappy" else ArrowOutput(file, compression)
