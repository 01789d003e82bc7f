"""Ctrl-C and SIGTERM end a command in order; a second one ends it at once."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class EndingSignals:
    """In a with statement of the main thread, turns the first signal into KeyboardInterrupt.

    Once `ending` has been called no more exceptions come, so that cleaning up is not cut short:
    a signal then ends the process at once, and so does the given time when it is over.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._ending = False
        self._asked = False

    def __enter__(self) -> EndingSignals:
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

    @property
    def asked(self) -> bool:
        """Whether a signal has come."""
        return self._asked

    def ending(self, seconds: float) -> None:
        """From now on end at once: at a signal, or when ``seconds`` are over."""
        self._ending = True
        timer = threading.Timer(seconds, os._exit, (0 if self._asked else 1,))
        timer.daemon = True
        timer.start()

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._ending:
            os._exit(128 + number)
        if not self._asked:
            self._asked = True
            raise KeyboardInterrupt
