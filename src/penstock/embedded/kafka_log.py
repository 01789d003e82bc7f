"""The broker's log file: kept small, quoted when a start fails, read for a controller's state."""

from __future__ import annotations

import re
from pathlib import Path

ROTATE_BYTES = 10_000_000
QUOTED_LINES = 8
TELLING = ("ERROR", "FATAL", "Exception", "Error:", "Caused by", "OutOfMemory")

ACTIVE = "Performing controller activation"
STATE = re.compile(r"Register\w*Record\(brokerId=1|RegistrationChangeRecord\(brokerId=1")
FENCED = re.compile(r"\bfenced=(true|false|0|1)\b")
"""In a change of a registration, -1 stands for no change."""


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
    lines = [line for line in _lines(log, start) if line.strip() and not _is_frame(line)]
    telling = [line for line in lines if any(word in line for word in TELLING)]
    return "\n".join((telling or lines)[-QUOTED_LINES:])


def is_fenced(log: Path, start: int) -> bool:
    """Return whether a controller whose log begins at `start` has given up the broker."""
    lines = _lines(log, start)
    told = [found[1] for line in lines if STATE.search(line) and (found := FENCED.search(line))]
    is_active = any(ACTIVE in line for line in lines)
    return is_active and (not told or told[-1] in ("true", "1"))


def _lines(log: Path, start: int) -> list[str]:
    with log.open("rb") as file:
        file.seek(start)
        return file.read().decode(errors="replace").splitlines()


def _is_frame(line: str) -> bool:
    return line.lstrip().startswith(("at ", "... "))
