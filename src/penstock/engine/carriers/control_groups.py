"""The control groups of this process: with them a container bounds what it may have."""

from __future__ import annotations

import math
import os
from pathlib import Path

MINE, ROOT = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
MEMORY = ("memory.max", "memory.limit_in_bytes")
"""What the two versions call the limit."""


def groups(controller: str, mine: Path = MINE, root: Path = ROOT) -> list[Path]:
    """Its group with this controller, and those that it is in; some may not be seen in here."""
    try:
        lines = mine.read_text().splitlines()
    except OSError:
        return []
    return [group for line in lines for group in _in_line(controller, root, line)]


def _in_line(controller: str, root: Path, line: str) -> list[Path]:
    _, controllers, path = line.split(":", 2)
    if controllers and controller not in controllers.split(","):
        return []
    base = root / controller if controllers else root
    group = base / path.lstrip("/")
    return [group, *(above for above in group.parents if above.is_relative_to(base))]


def memory_here(mine: Path = MINE, root: Path = ROOT) -> int:
    """Bytes that the machine has, or that this process's groups allow if that is less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(min([machine, *map(_most_memory, groups("memory", mine, root))]))


def _most_memory(group: Path) -> float:
    for name in MEMORY:
        try:
            return int((group / name).read_text())
        except (OSError, ValueError):  # it is of the other version, has no limit, or is not seen
            continue
    return math.inf
