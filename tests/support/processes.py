"""Other processes, as the operating system sees them."""

from __future__ import annotations

import psutil


def gone(pid: int) -> bool:
    """Whether the process has ended, reaped or not."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
