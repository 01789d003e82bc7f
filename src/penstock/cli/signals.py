"""Ctrl-C and SIGTERM end a command in order; a second one ends it at once.

Python runs handlers on the main thread alone, but the system may give a signal to any thread, and
then nothing wakes a main thread that waits. So each signal is also told to a thread that does.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
WAKING = signal.SIGURG
"""No other program sends it, and without a handler it does nothing."""
TIMES, PAUSE_SECONDS = 50, 0.1


class _Handler(ABC):
    """Handles both in a with statement of the main thread."""

    def __init__(self) -> None:
        self.asked = False
        """Whether a signal has come."""
        self._before: dict[int, Any] = {}
        self._waker = _Waker()

    def __enter__(self) -> Self:
        self._waker.start()
        handlers = dict.fromkeys(SIGNALS, self._handle) | {WAKING: _do_nothing}
        self._before = {number: signal.signal(number, handlers[number]) for number in handlers}
        return self

    def __exit__(self, *_: object) -> None:
        self._waker.stop()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @abstractmethod
    def _handle(self, number: int, _: FrameType | None) -> None: ...


def _do_nothing(_: int, __: FrameType | None) -> None:
    """That there is a handler is what interrupts whatever the main thread waits for."""


class _Waker:
    """A thread that wakes the main thread whenever any thread was given one of the signals.

    More than once: what comes just before the main thread begins to wait does not wake it.
    """

    def start(self) -> None:
        self._over = threading.Event()
        self._told, self._tell = socket.socketpair()
        self._tell.setblocking(False)
        self._before = signal.set_wakeup_fd(self._tell.fileno(), warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._run, name="signals", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        signal.set_wakeup_fd(self._before)
        self._over.set()
        self._tell.close()
        self._thread.join()
        self._told.close()

    def _run(self) -> None:
        while numbers := self._told.recv(64):
            if not set(numbers).isdisjoint(SIGNALS):
                self._wake()

    def _wake(self) -> None:
        main = threading.main_thread().ident
        assert main is not None  # noqa: S101 (narrows the type)
        for _ in range(TIMES):
            signal.pthread_kill(main, WAKING)
            if self._over.wait(PAUSE_SECONDS):
                return


class EndingSignals(_Handler):
    """Turns the first signal into KeyboardInterrupt.

    Once `ending` has been called no more exceptions come, so that cleaning up is not cut short:
    a signal then ends the process at once, and so does the given time when it is over.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ending = False

    def ending(self, seconds: float) -> None:
        """From now on end at once: at a signal, or when ``seconds`` are over."""
        self._ending = True
        timer = threading.Timer(seconds, os._exit, (0 if self.asked else 1,))
        timer.daemon = True
        timer.start()

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._ending:
            os._exit(128 + number)
        if not self.asked:
            self.asked = True
            raise KeyboardInterrupt


class StoppingSignals(_Handler):
    """Notes the first signal, for a command that ends between two pieces of its work."""

    def __init__(self) -> None:
        super().__init__()
        self._at_once = False

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """In here the first signal is a KeyboardInterrupt: for what may keep us waiting."""
        self._at_once = True
        try:
            if self.asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._at_once = False

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self.asked:
            os._exit(128 + number)
        self.asked = True
        if self._at_once:
            raise KeyboardInterrupt
