"""Files of numbered lines, and what became of them."""

from __future__ import annotations

import hashlib
from pathlib import Path


def write_lines(file: Path, count: int, size: int, first: int = 0) -> None:
    """``count`` lines of ``size`` bytes, each with its number."""
    padding = "x" * max(0, size - 12)
    with file.open("w", buffering=1 << 20) as out:
        out.writelines(f"{number:010d} {padding}\n" for number in range(first, first + count))


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def size_of(file: Path) -> int:
    """The size of a file; 0 if there is none."""
    return file.stat().st_size if file.exists() else 0


def lines_of(file: Path) -> list[str]:
    """The lines of a file; none if there is no file."""
    return file.read_text().splitlines() if file.exists() else []
