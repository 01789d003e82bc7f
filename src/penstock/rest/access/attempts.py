"""How often authentication may fail."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_FAILURES = 10
WINDOW_SECONDS = 60.0
MOST_ADDRESSES = 10_000


class Attempts:
    """Failures by address, in the last minute. For one thread.

    An attempt counts as failed from its start, so that many at once are no way around the limit.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, list[float]] = OrderedDict()

    def begin(self, address: str) -> float:
        """Seconds to wait before another attempt; 0 if it may be made, and then it counts."""
        now = self._clock()
        recent = [at for at in self._failed.pop(address, []) if now - at < WINDOW_SECONDS]
        self._failed[address] = recent
        if len(self._failed) > MOST_ADDRESSES:
            self._failed.popitem(last=False)
        if len(recent) >= MOST_FAILURES:
            return WINDOW_SECONDS - (now - recent[0])
        recent.append(now)
        return 0.0

    def succeeded(self, address: str) -> None:
        """The attempt was that of a known user."""
        recent = self._failed.get(address)
        if recent:
            recent.pop()
