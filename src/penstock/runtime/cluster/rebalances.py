"""The rebalances of this worker since its process started.

As in Kafka Connect, a rebalance lasts from the moment the worker has joined the group until it has
done the resulting work: advertised its address, taken over if it was elected, settled its
connectors.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

Sample = tuple[str, float]


class Rebalances:
    """Counts and times. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began: float | None = None
        self._ended: float | None = None
        self._completed = 0
        self._sum = 0.0
        self._longest = 0.0

    def begin(self) -> None:
        """The group has a new generation; a rebalance in progress continues."""
        with self._lock:
            if self._began is None:
                self._began = self._clock()

    def end(self) -> None:
        """The worker has done the resulting work; no effect if no rebalance is in progress."""
        with self._lock:
            if self._began is None:
                return
            self._ended = self._clock()
            seconds, self._began = self._ended - self._began, None
            self._completed += 1
            self._sum += seconds
            self._longest = max(self._longest, seconds)

    def samples(self) -> Iterator[Sample]:
        """Kafka Connect's names, as Strimzi's exporter spells them; times once there are any."""
        with self._lock:
            completed, ended = self._completed, self._ended
            average, longest = self._sum / max(1, completed), self._longest
        yield "completed_rebalances_total", completed
        if ended is not None:
            yield "rebalance_avg_time_ms", average * 1000
            yield "rebalance_max_time_ms", longest * 1000
            yield "time_since_last_rebalance_ms", (self._clock() - ended) * 1000
