"""How many leases a process can have: by its file handles, threads and memory.

A client has a thread and a connection for each broker, so that a larger cluster leaves room for
fewer leases. What one takes was counted on one broker and on three.
"""

from __future__ import annotations

import math
import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

from penstock.engine.carriers.control_groups import MINE, ROOT, groups, memory_here

MOST_LEASES = 400
"""With more, Python's lock would be what they wait for."""
FEWEST = 1
"""A process that has no room at all would still be started for each lease, for nothing."""
HANDLES_SPARED, THREADS_SPARED = 128, 32
"""For the process itself, and what tasks open besides."""
BYTES_SPARED = 512 << 20
"""What a process takes without leases, and what its clients may buffer together."""
BYTES_OF_LEASE = 5 << 19
USUAL_LEAST = 1 << 30
"""With less, hardly any leases would share a process."""
COUNTED_SECONDS = 10.0
"""How long a count of all processes of the user counts."""


@dataclass(frozen=True)
class Limits:
    """What a process may have in all."""

    handles: float
    threads: float = math.inf
    memory_bytes: float = math.inf


def handles_of_lease(brokers: int) -> int:
    """Descriptors of a producer and a consumer, and of an open file or two."""
    return 2 * (5 + 3 * brokers) + 2


def threads_of_lease(brokers: int) -> int:
    """Threads of a producer and a consumer, its own, and that of its commits."""
    return (3 + brokers) + (4 + brokers) + 2


def most_leases(limits: Limits, brokers: int) -> int:
    """How many leases a process within these limits can have, on so many brokers."""
    bounds = (
        MOST_LEASES,
        (limits.handles - HANDLES_SPARED) / handles_of_lease(brokers),
        (limits.threads - THREADS_SPARED) / threads_of_lease(brokers),
        (limits.memory_bytes - BYTES_SPARED) / BYTES_OF_LEASE,
    )
    return max(FEWEST, int(min(bounds)))


class ProcessLimits:
    """The limits of this process, as they are now. Cheap to ask for every second."""

    def __init__(self, most_bytes: int = 0) -> None:
        """``most_bytes`` is the memory beyond which it ends itself; 0 for no limit."""
        self._memory = most_bytes or math.inf
        self._users_threads = 0
        self._counted_at = -math.inf

    def now(self) -> Limits:
        """Threads are shared with other processes: what this one has, and what is left."""
        handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        left = min(threads_left_in_group(), self._threads_left_to_user())
        unlimited = handles == resource.RLIM_INFINITY
        return Limits(math.inf if unlimited else handles, _threads_here() + left, self._memory)

    def _threads_left_to_user(self) -> float:
        limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        if limit == resource.RLIM_INFINITY or os.geteuid() == 0:  # root has no such limit
            return math.inf
        now = time.monotonic()
        if now - self._counted_at > COUNTED_SECONDS:
            self._users_threads, self._counted_at = threads_of_user(os.geteuid()), now
        return max(0, limit - self._users_threads)


def usual_memory(mine: Path = MINE, root: Path = ROOT) -> int:
    """The memory limit of a carrier by default: half of what there is. Beyond its own limit a
    container would be ended whole, and what ended it would not be known."""
    return max(USUAL_LEAST, memory_here(mine, root) // 2)


def threads_left_in_group(mine: Path = MINE, root: Path = ROOT) -> float:
    """How many more threads the control groups of this process allow; infinite without any."""
    return min(map(_left_in, groups("pids", mine, root)), default=math.inf)


def _left_in(group: Path) -> float:
    try:
        most = (group / "pids.max").read_text().strip()
        return math.inf if most == "max" else int(most) - int((group / "pids.current").read_text())
    except (OSError, ValueError):  # it has no limit, or cannot be seen from in here
        return math.inf


def threads_of_user(user: int, processes: Path = Path("/proc")) -> int:
    """How many threads all processes of the user have."""
    return sum(
        _threads_in(each / "stat") for each in processes.glob("[0-9]*") if _owner(each) == user
    )


def _owner(process: Path) -> int:
    try:
        return process.stat().st_uid
    except OSError:  # it has just ended
        return -1


def _threads_here() -> int:
    return _threads_in(Path("/proc/self/stat"))


def _threads_in(stat: Path) -> int:
    """Behind the name of the command, which may have spaces in it, it is the 18th figure."""
    try:
        return int(stat.read_text().rpartition(")")[2].split()[17])
    except OSError:
        return 0
