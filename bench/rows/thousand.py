"""A thousand connectors on one worker, most of them idle: what grows, and how long is a stop?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from bench.bed import Bed
from bench.flocks import Flock
from bench.process_tree import memory_bytes, open_files, threads
from bench.rest_worker import RestWorker
from bench.results import ITSELF, OURS, Figure, RowResult, Target
from bench.rounds import median
from bench.row import Row
from bench.trickling import SourceTrickle

TRICKLING, ASLEEP = 200, 800
STOPPED_EACH = 10
MINUTES = 10
SAMPLES_PER_MINUTE = 6
QUIET_SECONDS = 2.0
LAST, FIRST = f"{OURS}, at the end", "at the beginning"
GROWTH = Target(FIRST, at_most=1.05)


@dataclass(frozen=True)
class Sample:
    """What the worker's process tree has at one moment."""

    megabytes: float
    threads: int
    open_files: int

    @staticmethod
    def of(root: int) -> Sample:
        """As it is now."""
        return Sample(memory_bytes(root) / 1e6, threads(root), open_files(root))


def thousand(bed: Bed) -> RowResult:
    """Samples of the first and of the last minutes; then some of each kind are stopped."""
    with bed.new_penstock() as worker:
        trickle = SourceTrickle(bed, worker)
        trickle.grow_to(bed.scale.some(TRICKLING))
        asleep = Flock(bed, worker)
        asleep.grow_to(bed.scale.some(ASLEEP))
        bed.say("warming up")
        trickle.warm_up(bed.scale.minute)
        samples: list[Sample] = []
        with trickle.flowing():
            for minute in range(MINUTES):
                samples += _minute(bed.scale.minute, worker, trickle)
                bed.say(f"minute {minute + 1} of {MINUTES}: {samples[-1]}")
            stops = [_stop(worker, name) for name in _some(trickle.names) + _some(asleep.names)]
    early, late = samples[: 2 * SAMPLES_PER_MINUTE], samples[-2 * SAMPLES_PER_MINUTE :]
    return RowResult(
        unit="MB",
        sides=_sides(early, late, lambda sample: sample.megabytes),
        targets=[GROWTH],
        also=[
            Figure("threads", _sides(early, late, lambda sample: sample.threads), [GROWTH]),
            Figure("open files", _sides(early, late, lambda sample: sample.open_files), [GROWTH]),
            Figure("s, the slowest stop", {OURS: [max(stops)]}, [Target(ITSELF, at_most=5.0)]),
        ],
        notes=[
            f"{trickle.size} connectors with a record a second each and {asleep.size} idle ones, "
            f"for {MINUTES * bed.scale.minute / 60:.0f} minutes: the first two, and the last two.",
            f"Stopping {len(stops)} of them, one after the other, while the others run: "
            f"{median(stops):.2f} s each, {max(stops):.2f} s at most, until it was answered. None "
            "moved a record after that.",
        ],
        details={"samples": list(map(asdict, samples)), "stop_seconds": stops},
    )


def _minute(seconds: float, worker: RestWorker, trickle: SourceTrickle) -> list[Sample]:
    found = []
    for _ in range(SAMPLES_PER_MINUTE):
        trickle.drain(seconds / SAMPLES_PER_MINUTE)
        found.append(Sample.of(worker.pid))
    return found


def _stop(worker: RestWorker, name: str) -> float:
    """Seconds until a stop was answered; RuntimeError if it was not true then."""
    began = time.perf_counter()
    worker.client.stop(name)
    took = time.perf_counter() - began
    status, offsets = worker.client.status(name), worker.client.offsets(name)
    time.sleep(QUIET_SECONDS)
    if status["connector"]["state"] != "STOPPED" or worker.client.offsets(name) != offsets:
        raise RuntimeError(f"{name} was not stopped when that was answered: {status}")
    return took


def _some(names: Sequence[str]) -> list[str]:
    return list(names[:: max(1, len(names) // STOPPED_EACH)])[:STOPPED_EACH]


def _sides(
    early: Sequence[Sample], late: Sequence[Sample], value: Callable[[Sample], float]
) -> dict[str, list[float]]:
    return {LAST: [value(each) for each in late], FIRST: [value(each) for each in early]}


ROWS = (
    Row(
        "a-thousand",
        f"{TRICKLING} sources with a record a second each, and {ASLEEP} idle ones",
        thousand,
    ),
)
