"""A lock between processes that the kernel frees when its holder dies."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

POLL_SECONDS = 0.05


class FileLock:
    """An exclusive lock on a file that also tells others who holds it.

    Holds between processes and between two FileLocks of one process. Not for use by several
    threads at once. The file stays after release: removing it would let two holders in. (The
    package ``filelock`` empties the file to look at it, and so could not tell who the holder is.)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if it is free; return whether it was."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        self.tell(pid=os.getpid())
        return True

    def held(self) -> bool:
        """Return whether anyone holds the lock; writes nothing, not even the file."""
        try:
            with self.path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def acquire(self, on_wait: Callable[[int | None], None]) -> None:
        """Take the lock, waiting for as long as it takes; call `on_wait(pid)` once if it waits."""
        if self.try_acquire():
            return
        on_wait(self.told().get("pid"))
        while not self.try_acquire():
            time.sleep(POLL_SECONDS)

    def tell(self, **facts: Any) -> None:
        """Leave facts for those who find the lock held; only while holding it."""
        if self._descriptor is None:
            raise RuntimeError(f"the lock {self.path} is not held")
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(facts).encode(), 0)

    def told(self) -> dict[str, Any]:
        """Return the holder's facts, or an empty dict where it left none."""
        try:
            facts = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return {}
        return facts if isinstance(facts, dict) else {}

    def release(self) -> None:
        """Give the lock back; does nothing when it is not held."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
