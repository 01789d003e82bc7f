"""Ctrl-C and SIGTERM end a command in order; a second one ends it at once."""

from __future__ import annotations

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Handler(ABC):
    """Handles both in a with statement of the main thread."""

    def __init__(self) -> None:
        self.asked = False
        """Whether a signal has come."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @abstractmethod
    def _handle(self, number: int, _: FrameType | None) -> None: ...


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
