"""Idle connectors: processor time of the worker's process tree, without the broker."""

from __future__ import annotations

from itertools import pairwise

from bench.bed import Bed
from bench.flocks import Flock, cpu_per_minute, settle
from bench.rest_worker import RestWorker
from bench.results import CONNECT, OURS, RowResult, Target
from bench.rounds import median
from bench.row import Row

# More per additional connector than this, relative to the step before, is not linear growth.
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
    """Ours alone, ever more of them in one worker: what each additional one costs."""
    sizes = bed.scale.growth
    costs: list[list[float]] = []
    with bed.new_penstock() as worker:
        flock = Flock(bed, worker)
        for size in sizes:
            flock.grow_to(size)
            settle({OURS: worker}, bed.say)
            costs.append(_cpu(bed, flock, worker))
    steps = [(_step(*pair), _each_more(*pair)) for pair in pairwise(zip(sizes, costs, strict=True))]
    return RowResult(
        unit="CPU milliseconds per minute and additional connector",
        sides=dict(reversed(steps)),
        targets=[Target(steps[-2][0], at_most=LINEAR)],
        notes=[
            f"Linear growth: an additional one costs at most {LINEAR:g} times as much among more.",
            *(
                f"{n:,} connectors: {median(cost):.2f} CPU seconds per minute."
                for n, cost in zip(sizes, costs, strict=True)
            ),
        ],
        details={"cpu_seconds_per_minute": dict(zip(map(str, sizes), costs, strict=True))},
    )


ROWS = (
    Row("idle-200", "200 idle connectors", idle),
    Row("idle-growth", "50, 200 and 1,000 idle connectors", growth),
)


Measured = tuple[int, list[float]]


def _step(fewer: Measured, more: Measured) -> str:
    return f"{OURS}, from {fewer[0]:,} to {more[0]:,}"


def _each_more(fewer: Measured, more: Measured) -> list[float]:
    """Milliseconds per minute that each of the additional connectors costs, round by round."""
    added = more[0] - fewer[0]
    return [(b - a) / added * 1000 for a, b in zip(fewer[1], more[1], strict=True)]


def _cpu(bed: Bed, flock: Flock, worker: RestWorker) -> list[float]:
    found = [
        cpu_per_minute({OURS: worker}, bed.scale.minute / bed.scale.rounds)[OURS]
        for _ in range(bed.scale.rounds)
    ]
    bed.say(f"{flock.size:,} connectors: {found} CPU seconds per minute")
    return found
