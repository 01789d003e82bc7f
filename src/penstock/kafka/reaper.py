"""The only thread on which clients are destroyed.

Destroying a librdkafka client may block, and is forbidden on the client's own threads: there the
library aborts the process. Python code does run on those (responses to an admin's requests, log
lines), and so does the garbage collector. So a client whose last reference is dropped comes here.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import sys
import threading
import time
from queue import SimpleQueue
from typing import Protocol

log = logging.getLogger(__name__)

STUCK_SECONDS = 60.0
EXIT_SECONDS = 5.0
NOBODY_ELSE = 2
"""The reference count of an object that only a list holds: the list's and the counting call's."""

_add_reference = ctypes.pythonapi.Py_IncRef
_add_reference.argtypes, _add_reference.restype = [ctypes.py_object], None


def keep_for_ever(client: object) -> None:
    """Keep a client that can no longer be destroyed forever."""
    _add_reference(client)


class Mortal(Protocol):
    """A client."""

    goes_with_memory: bool
    """Whether freeing its memory destroys the library's part of it."""

    def end(self) -> None:
        """Destroy the library's part of it now. Called at most once; may block, may raise."""


class Reaper:
    """Destroys clients, one after the other. Thread-safe."""

    def __init__(self) -> None:
        self._retired: SimpleQueue[Mortal | None] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._busy_since: float | None = None
        self._exiting = False

    def ensure(self) -> None:
        """Start the thread if it does not run; called when a client is created.

        Not by ``take``, which may be called where no thread can be started, and not on import:
        Spark's Python daemon forks, and must have no thread.
        """
        with self._starting:
            if self._thread is None:
                atexit.register(self.finish)
                self._start()
            elif self._stuck():
                log.warning(
                    "destroying a client takes more than %.0f s; not waiting for it", STUCK_SECONDS
                )
                self._start()

    def take(self, client: Mortal) -> None:
        """Destroy ``client`` soon. Never blocks: may be called by a finalizer, on any thread."""
        if self._exiting or sys.is_finalizing():
            keep_for_ever(client)  # it ends with the process
        else:
            self._retired.put(client)

    def finish(self, seconds: float = EXIT_SECONDS) -> None:
        """At process exit: destroy what is queued, but do not wait long for it."""
        self._exiting = True
        self._retired.put(None)
        if self._thread is not None:
            self._thread.join(seconds)

    def _start(self) -> None:
        self._busy_since = None
        thread = threading.Thread(target=self._run, name="client-reaper", daemon=True)
        self._thread = thread
        thread.start()

    def _stuck(self) -> bool:
        since = self._busy_since
        return since is not None and time.monotonic() - since > STUCK_SECONDS

    def _run(self) -> None:
        me = threading.current_thread()
        while self._thread is me or self._thread is None:
            client = self._retired.get()
            if client is None:
                return
            self._busy_since = time.monotonic()
            held = [client]
            del client
            _end(held)
            if self._thread is me:
                self._busy_since = None


def _end(held: list[Mortal]) -> None:
    """Destroy the client in the list."""
    try:
        # Other references to it are garbage, which is freed later, on any thread.
        if not held[0].goes_with_memory or sys.getrefcount(held[0]) > NOBODY_ELSE:
            held[0].end()
    except Exception:
        log.exception("a client could not be destroyed and is leaked")
        keep_for_ever(held[0])
    held.clear()


class _Here:
    """The reaper of this process."""

    reaper = Reaper()


def _forget_parent() -> None:
    atexit.unregister(_Here.reaper.finish)
    _Here.reaper = Reaper()


os.register_at_fork(after_in_child=_forget_parent)


def reaper() -> Reaper:
    """The reaper of this process: a fork gets its own."""
    return _Here.reaper
