"""A share of the heavy tests, by file: CI runs one each time, in turn."""

from __future__ import annotations

from zlib import crc32


def belongs(file: str, share: str) -> bool:
    """Whether the tests of ``file`` are in ``share``, the second of two, say: ``2/2``."""
    number, count = (int(part) for part in share.split("/"))
    return crc32(file.encode()) % count == number - 1
