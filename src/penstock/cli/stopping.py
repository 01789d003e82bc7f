"""Ctrl-C and SIGTERM for a command that ends between two pieces of its work."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopping:
    """In a with statement of the main thread: the first signal is noted, a second one ends the
    process at once."""

    def __init__(self) -> None:
        self.requested = False
        self._at_once = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stopping:
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

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """In here the first signal is a KeyboardInterrupt: for what may keep us waiting."""
        self._at_once = True
        try:
            if self.requested:
                raise KeyboardInterrupt
            yield
        finally:
            self._at_once = False

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self.requested:
            os._exit(128 + number)
        self.requested = True
        if self._at_once:
            raise KeyboardInterrupt
