"""Pauses that grow while there is nothing to do, and end at once when a task is stopped."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from penstock.sdk.errors import ConfigError

LONGEST: Final = 5.0
"""Seconds that the framework ever waits before it asks an iterator again."""


@dataclass(frozen=True)
class BackoffConfig:
    """How pauses grow: ``first_delay``, then ``factor`` times as long, up to ``max_delay``.

    ``jitter`` is the fraction by which a pause may be shorter, so that tasks that began together do
    not ask together. ``stopping`` ends a pause under way, and lets none begin; the framework sets
    it when the task is stopped.
    """

    max_delay: float = LONGEST
    first_delay: float = 0.01
    factor: float = 2.0
    jitter: float = 0.1
    stopping: threading.Event = field(default_factory=threading.Event, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.first_delay <= self.max_delay:
            raise ConfigError("first_delay must be above 0 and not above max_delay")
        if self.factor < 1 or not 0 <= self.jitter < 1:
            raise ConfigError("factor must be at least 1, and jitter from 0 to below 1")


class Backoff:
    """One row of growing pauses. For one thread; ``reset`` when there was something to do."""

    def __init__(
        self, config: BackoffConfig | None = None, rand: Callable[[], float] = random.random
    ) -> None:
        self._config = config or BackoffConfig()
        self._rand = rand
        self._next = self._config.first_delay

    def next_delay(self) -> float:
        """Seconds to wait this time, never above ``max_delay``; the next one is longer."""
        now, config = self._next, self._config
        self._next = min(config.max_delay, now * config.factor)
        return now * (1 - config.jitter * self._rand())

    def delay(self) -> bool:
        """Wait; False at once when the task is being stopped, which also ends a wait."""
        return not self._config.stopping.wait(self.next_delay())

    def reset(self) -> None:
        """The next pause is the shortest again."""
        self._next = self._config.first_delay
