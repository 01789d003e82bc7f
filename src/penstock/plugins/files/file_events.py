"""Hears of changed files from the system, instead of looking at them again and again.

The system tells of changes made on this machine only, and limits how many files it watches. So this
makes things sooner and cheaper, and nothing may depend on it.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import threading
from collections.abc import Callable
from typing import Final

from penstock.plugins.files.file_system import tells_changes

ONCE: Final = 0x8000_0000
CHANGED: Final = 0x2 | 0x4 | 0x400 | 0x800
"""Modified, its attributes (how many names it has is one of them), deleted, moved."""
HEADER: Final = struct.Struct("iIII")
MANY: Final = 64 * 1024
PAUSE_MILLISECONDS, UNUSED_ROUNDS = 1000, 3
"""After so many pauses without anything to hear of, the thread ends: a carrier's process that
returns to Spark must leave nothing running."""

Ring = Callable[[], None]


class FileEvents:
    """Rings once for the next change of a file. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._armed: dict[int, set[Ring]] = {}

    def arm(self, path: str, ring: Ring) -> int | None:
        """Have ``ring`` called once, on another thread, at the next change of the file.

        It must not block. Returns what ``armed`` and ``disarm`` know this by; None if the system
        will not tell.
        """
        with self._lock:
            if self._descriptor is None and not self._begin():
                return None
            name, events = os.fsencode(path), CHANGED | ONCE
            watch = _library().inotify_add_watch(self._descriptor, name, events)
            if watch < 0:
                return None
            self._armed.setdefault(watch, set()).add(ring)
            return int(watch)

    def armed(self, watch: int, ring: Ring) -> bool:
        """Whether ``ring`` is still to be called: the file has not changed since.

        The system gives the same numbers again once the thread has ended, so that another file may
        have this one by now.
        """
        return ring in self._armed.get(watch, ())

    def disarm(self, watch: int, ring: Ring) -> None:
        """Do not call ``ring`` any more; it may be called just now."""
        with self._lock:
            rings = self._armed.get(watch, set())
            rings.discard(ring)
            if not rings and self._armed.pop(watch, None) is not None:
                _library().inotify_rm_watch(self._descriptor, watch)

    def _begin(self) -> bool:
        descriptor = _library().inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if descriptor < 0:
            return False
        self._descriptor = descriptor
        threading.Thread(
            target=self._listen, args=(descriptor,), name="file-events", daemon=True
        ).start()
        return True

    def _listen(self, descriptor: int) -> None:
        poll, unused = select.poll(), 0
        poll.register(descriptor, select.POLLIN)
        while unused < UNUSED_ROUNDS or not self._end(descriptor):
            heard = bool(poll.poll(PAUSE_MILLISECONDS))
            if heard:
                self._ring(_watches(os.read(descriptor, MANY)))
            unused = 0 if heard or self._armed else unused + 1

    def _end(self, descriptor: int) -> bool:
        with self._lock:
            if not self._armed:
                os.close(descriptor)
                self._descriptor = None
            return not self._armed

    def _ring(self, watches: set[int]) -> None:
        with self._lock:
            if min(watches) < 0:  # there were more than the system could keep
                watches = set(self._armed)
            rings = [ring for watch in watches for ring in self._armed.pop(watch, ())]
        for ring in rings:
            ring()


class FileBell:
    """One reader's interest in one file. Not thread-safe; ``ring`` as for ``FileEvents.arm``."""

    def __init__(self, path: str, events: FileEvents | None = None) -> None:
        self._path = path
        self._events = events or EVENTS
        self._rung: tuple[int, Ring] | None = None
        self._told = False

    def arm(self, ring: Ring) -> bool:
        """Ring at the next change; whether that will happen. Costs nothing until it has rung."""
        if self.armed and self._rung is not None and self._rung[1] == ring:
            return True
        self.close()
        self._told = self._told or tells_changes(self._path)
        watch = self._events.arm(self._path, ring) if self._told else None
        self._rung = None if watch is None else (watch, ring)
        return watch is not None

    @property
    def armed(self) -> bool:
        """Whether it will ring."""
        return self._rung is not None and self._events.armed(*self._rung)

    def close(self) -> None:
        """Ring no more."""
        rung, self._rung = self._rung, None
        if rung is not None:
            self._events.disarm(*rung)


def _watches(events: bytes) -> set[int]:
    found, at = set(), 0
    while at < len(events):
        watch, _, _, length = HEADER.unpack_from(events, at)
        found.add(watch)
        at += HEADER.size + length
    return found


class _Library:
    loaded: ctypes.CDLL | None = None


def _library() -> ctypes.CDLL:
    """Loaded at first use: there are systems without these functions."""
    if _Library.loaded is None:
        _Library.loaded = ctypes.CDLL(None, use_errno=True)
    return _Library.loaded


EVENTS: Final = FileEvents()
