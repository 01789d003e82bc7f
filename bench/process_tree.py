"""What a process and everything below it use: processor time and memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

SAMPLE_SECONDS = 0.25


def processes(root: int) -> list[psutil.Process]:
    """The processes of the tree that live now; none once its root is gone."""
    try:
        top = psutil.Process(root)
        return [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


class CpuMeter:
    """Processor seconds that the tree uses from the making of this on, as far as it was looked at.

    A process that ends between two looks counts with what the last look saw of it. Its parent's
    account of ended children would miss more: Spark's Python daemon ignores the signal of their
    end, and the system then keeps no account of them.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._first = _own_seconds(root)
        self._last = dict(self._first)

    def look(self) -> None:
        """Take note of what every living process has used; often, for those that end."""
        self._last.update(_own_seconds(self._root))

    @property
    def seconds(self) -> float:
        """What was used up to the latest look."""
        return sum(self._last.values()) - sum(self._first.values())


def _own_seconds(root: int) -> dict[psutil.Process, float]:
    found: dict[psutil.Process, float] = {}
    for process in processes(root):
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        found[process] = used.user + used.system
    return found


def memory_bytes(root: int) -> int:
    """The tree's share of memory: pages that forked processes share count once in all (PSS)."""
    return sum(_share(process) for process in processes(root))


def threads(root: int) -> int:
    """How many threads the tree has."""
    return sum(map(_threads, processes(root)))


def open_files(root: int) -> int:
    """How many file descriptors the tree has open: files, sockets, pipes and the like."""
    return sum(map(_descriptors, processes(root)))


def _threads(process: psutil.Process) -> int:
    try:
        return int(process.num_threads())
    except psutil.Error:  # it has just ended
        return 0


def _descriptors(process: psutil.Process) -> int:
    try:
        return int(process.num_fds())
    except psutil.Error:
        return 0


def _share(process: psutil.Process) -> int:
    try:
        return _pss(Path(f"/proc/{process.pid}/smaps_rollup").read_text())
    except ProcessLookupError:
        return 0
    except OSError:
        return _unique(process)


def _pss(rollup: str) -> int:
    found = [line.split() for line in rollup.splitlines() if line.startswith("Pss:")]
    return int(found[0][1]) * 1024 if found else 0


def _unique(process: psutil.Process) -> int:
    """Where the system tells no shares: what the process would free by ending (USS)."""
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        return 0


@dataclass
class Peak:
    """The most memory that a tree was seen to have."""

    memory_bytes: int = 0


@contextmanager
def peak_memory(root: int) -> Iterator[Peak]:
    """Watch the tree inside the with statement, four times a second."""
    peak, done = Peak(), threading.Event()

    def watch() -> None:
        while True:
            peak.memory_bytes = max(peak.memory_bytes, memory_bytes(root))
            if done.wait(SAMPLE_SECONDS):
                return

    watcher = threading.Thread(target=watch, name="peak-memory")
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()
