"""Many connectors that have nothing to do, and what they cost."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from bench.bed import Bed
from bench.moves import SOURCE
from bench.process_tree import CpuMeter
from bench.rest_worker import RestWorker
from bench.rounds import Say
from bench.topic import Topic

LINES = 3
REQUESTS_AT_ONCE = 4
REPORT_SECONDS = 5.0
LONGEST_SECONDS = 900.0
WINDOW_SECONDS, MOST_WINDOWS = 15.0, 6
QUIET = 0.85
LOOK_SECONDS = 0.25


class Flock:
    """Connectors of one worker, a file each, all into one topic."""

    def __init__(self, bed: Bed, worker: RestWorker) -> None:
        self._worker, self._say = worker, bed.say
        self._topic: Topic = bed.topic()
        self._folder: Path = bed.folder / bed.name("flock")
        self._folder.mkdir()
        self.size = 0
        self.names: list[str] = []

    def grow_to(self, size: int) -> None:
        """Create more connectors, and return once the lines of every one are delivered."""
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
            created = [pool.submit(self._create, number) for number in range(self.size, size)]
            try:
                self._wait_for(size, created)
            finally:
                pool.shutdown(cancel_futures=True)
        self.size = size
        self.names = [self._name(number) for number in range(size)]

    def _name(self, number: int) -> str:
        return f"{self._folder.name}-{number}"

    def _create(self, number: int) -> None:
        file = self._folder / f"{number}.txt"
        file.write_text("a line\n" * LINES)
        config = {**SOURCE, "file": str(file), "topic": self._topic.name}
        self._worker.create(self._name(number), config)

    def _wait_for(self, size: int, created: Sequence[Future[None]]) -> None:
        began = told = time.monotonic()
        while (there := self._delivered()) < size * LINES:
            for request in created:
                if request.done():
                    request.result()  # Raises what went wrong, before waiting in vain.
            now = time.monotonic()
            if now - began > LONGEST_SECONDS:
                raise TimeoutError(
                    f"{there // LINES} of {size} connectors ran in {now - began:.0f} s"
                )
            if now - told > REPORT_SECONDS:
                self._say(f"{self._worker.label}: {there // LINES} of {size} connectors have run")
                told = now
            time.sleep(1)

    def _delivered(self) -> int:
        """Read, not asked for: the topic's end counts transaction markers too."""
        return self._topic.read_back().records


def cpu_per_minute(workers: Mapping[str, RestWorker], seconds: float) -> dict[str, float]:
    """Processor seconds per minute of each worker's process tree, all over the same time."""
    meters = {side: CpuMeter(worker.pid) for side, worker in workers.items()}
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        time.sleep(LOOK_SECONDS)
        for meter in meters.values():
            meter.look()
    minutes = (time.monotonic() - began) / 60
    return {side: meter.seconds / minutes for side, meter in meters.items()}


def settle(workers: Mapping[str, RestWorker], say: Say) -> None:
    """Return once no worker uses less and less: leases have ended, compilers have finished."""
    say("settling")
    before = cpu_per_minute(workers, WINDOW_SECONDS)
    for _ in range(MOST_WINDOWS):
        now = cpu_per_minute(workers, WINDOW_SECONDS)
        if all(now[side] >= QUIET * before[side] for side in workers):
            return
        before = now
