"""The files of the demo."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

WORDS = ("sluice", "weir", "gate", "turbine", "spillway", "head", "flow", "Größe")


def write_lines(file: Path, count: int) -> None:
    """Write ``count`` lines, each another."""
    with file.open("w", encoding="utf-8", newline="\n") as out:
        for number in range(count):
            word = WORDS[number % len(WORDS)]
            out.write(f"{number:09d} {word} {number * 2654435761 % 2**32:08x}\n")


@dataclass(frozen=True)
class Contents:
    """What is in a file."""

    lines: int
    size: int
    sha256: str

    @staticmethod
    def of(*parts: bytes) -> Contents:
        """What is in ``parts``, one after the other."""
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        return Contents(
            sum(part.count(b"\n") for part in parts), sum(map(len, parts)), digest.hexdigest()
        )


def start_of_line(content: bytes, number: int) -> int:
    """The position at which line ``number``, counted from 0, begins."""
    position = 0
    for _ in range(number):
        position = content.index(b"\n", position) + 1
    return position


def size_of(file: Path) -> int:
    """The size of a file that may not be there yet."""
    return file.stat().st_size if file.exists() else 0
