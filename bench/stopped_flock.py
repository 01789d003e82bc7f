"""Many stopped connectors on one worker: how long creating each took, and how long a list takes."""

from __future__ import annotations

import time
from collections.abc import Sequence

import httpx

from bench.bed import Bed
from bench.moves import SOURCE
from bench.rest_worker import RestWorker

LISTING = "/connectors?expand=status&expand=info"
LIST_SECONDS = 60.0
STATUS_SECONDS = 60.0
SAY_EVERY = 250


class StoppedFlock:
    """Connectors that are created STOPPED, one after the other over one connection."""

    def __init__(self, bed: Bed, worker: RestWorker, size: int) -> None:
        self._bed, self._worker = bed, worker
        self._name = bed.name("stopped")
        self._http = httpx.Client(base_url=worker.client.url, trust_env=False, timeout=LIST_SECONDS)
        self.seconds = [self._create(number) for number in range(size)]
        self._wait_for_statuses(size)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def list_milliseconds(self, count: int) -> list[float]:
        """How long each of so many lists of everything took, until its last byte was there."""
        return [self._list() for _ in range(count)]

    def _create(self, number: int) -> float:
        if number % SAY_EVERY == 0:
            self._bed.say(f"{self._worker.label}: {number} stopped connectors")
        config = {**SOURCE, "file": f"/nowhere/{number}.txt", "topic": "nowhere"}
        began = time.perf_counter()
        name = f"{self._name}-{number}"
        return self._worker.create(name, config, initial_state="STOPPED") - began

    def _list(self) -> float:
        began = time.perf_counter()
        self._http.get(LISTING).raise_for_status()
        return (time.perf_counter() - began) * 1000

    def _wait_for_statuses(self, size: int) -> None:
        """A status may come after the answer to its create request."""
        deadline = time.monotonic() + STATUS_SECONDS
        while (found := len(self._http.get(LISTING).json())) < size:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self._worker.label} lists {found} of {size} connectors")
            time.sleep(0.2)


def each_milliseconds(seconds: Sequence[float]) -> float:
    """The mean of these, in milliseconds."""
    return sum(seconds) / len(seconds) * 1000
