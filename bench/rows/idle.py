"""Idle connectors: processor time of the worker's process tree, without the broker."""

from __future__ import annotations

from bench.bed import Bed
from bench.flocks import Flock, cpu_per_minute, settle
from bench.rest_worker import RestWorker
from bench.results import CONNECT, OURS, RowResult, Target
from bench.row import Row

# More per connector than this, relative to the smaller flock, is growth that is not linear.
LINEAR = 1.25


def idle(bed: Bed) -> RowResult:
    """As many for both, measured in the same minutes."""
    size = bed.scale.idle_connectors
    figures: dict[str, list[float]] = {OURS: [], CONNECT: []}
    with bed.new_penstock() as ours, bed.new_kafka_connect() as theirs:
        workers = {OURS: ours, CONNECT: theirs}
        for worker in workers.values():
            Flock(bed, worker).grow_to(size)
        settle(workers, bed.say)
        for number in range(bed.scale.rounds):
            for side, found in cpu_per_minute(workers, bed.scale.minute).items():
                figures[side].append(found)
                bed.say(f"round {number + 1} of {bed.scale.rounds}, {side}: {found:.3g}")
    return RowResult(
        unit="CPU seconds per minute",
        sides=figures,
        targets=[Target(CONNECT, at_most=1.0)],
        notes=[f"{size} file sources each; every one has delivered a few lines and has no more."],
    )


def growth(bed: Bed) -> RowResult:
    """Ours alone, ever more of them in one worker."""
    figures: dict[str, list[float]] = {}
    with bed.new_penstock() as worker:
        flock = Flock(bed, worker)
        for size in bed.scale.growth:
            flock.grow_to(size)
            settle({OURS: worker}, bed.say)
            figures[_side(size)] = _milliseconds_each(bed, flock, worker)
    largest_first = dict(reversed(figures.items()))
    before_largest = _side(bed.scale.growth[-2])
    return RowResult(
        unit="CPU milliseconds per minute and connector",
        sides=largest_first,
        targets=[Target(before_largest, at_most=LINEAR)],
        notes=[f"Linear growth: a connector costs at most {LINEAR:g} times as much among more."],
    )


ROWS = (
    Row("idle-200", "200 idle connectors", idle),
    Row("idle-growth", "50, 200 and 1,000 idle connectors", growth),
)


def _side(size: int) -> str:
    return f"{OURS}, {size:,} connectors"


def _milliseconds_each(bed: Bed, flock: Flock, worker: RestWorker) -> list[float]:
    found = [
        cpu_per_minute({OURS: worker}, bed.scale.minute / bed.scale.rounds)[OURS]
        for _ in range(bed.scale.rounds)
    ]
    bed.say(f"{flock.size:,} connectors: {found} CPU seconds per minute")
    return [each / flock.size * 1000 for each in found]
