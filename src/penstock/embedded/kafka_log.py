"""The broker's log file: kept small, and quoted when a start fails."""

from __future__ import annotations

from pathlib import Path

ROTATE_BYTES = 10_000_000
QUOTED_LINES = 8
TELLING = ("ERROR", "FATAL", "Exception", "Error:", "Caused by", "OutOfMemory")


def rotate(log: Path) -> int:
    """Move a large log aside (to `<name>.1`); return where the next line will be written."""
    if not log.exists():
        return 0
    size = log.stat().st_size
    if size <= ROTATE_BYTES:
        return size
    log.replace(log.with_name(log.name + ".1"))
    return 0


def quote(log: Path, start: int) -> str:
    """Return the last telling lines written after `start`, without Java stack frames."""
    with log.open("rb") as file:
        file.seek(start)
        text = file.read().decode(errors="replace")
    lines = [line for line in text.splitlines() if line.strip() and not _is_frame(line)]
    telling = [line for line in lines if any(word in line for word in TELLING)]
    return "\n".join((telling or lines)[-QUOTED_LINES:])


def _is_frame(line: str) -> bool:
    return line.lstrip().startswith(("at ", "... "))
