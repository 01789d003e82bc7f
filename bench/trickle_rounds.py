"""Rounds of trickles on several sides, and what more connectors on one of them cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from bench.bed import Bed
from bench.results import Figure, Target
from bench.rounds import interleaved, median
from bench.trickling import Sample, Trickle

LINEAR = 1.25
"""More CPU than this for an additional one, relative to the first ones, is not linear growth."""
AT_ONCE = 100
"""More than so many on each side would not leave each other time to get warm."""
WARM_ALREADY = 4
"""So much shorter is the warm-up of a side that had some of its connectors before."""
CPU = "CPU seconds per minute"


def window(bed: Bed) -> float:
    """Seconds of a sample."""
    return bed.scale.minute / 2


def warmed(
    bed: Bed, sides: Mapping[str, Trickle], size: int, needed: Sequence[str]
) -> dict[str, Trickle]:
    """So many connectors on each side, until all run. A side that does not keep up is ended and
    left out, unless it is needed: then TimeoutError."""

    def warm(name: str) -> bool:
        least = bed.scale.minute / (WARM_ALREADY if sides[name].size else 1)
        try:
            sides[name].grow_to(size)
            sides[name].warm_up(least)
        except TimeoutError as error:
            if name in needed:
                raise
            bed.say(f"{error}: left out")
            sides[name].worker.stop()
            return False
        return True

    with ThreadPoolExecutor(len(sides) if size <= AT_ONCE else 1) as pool:
        kept = dict(zip(sides, pool.map(warm, sides), strict=True))
    return {name: side for name, side in sides.items() if kept[name]}


def sampled(bed: Bed, sides: Mapping[str, Trickle]) -> dict[str, list[float]]:
    """The p50 of each side, round by round; all else is in its samples."""
    measures = {name: partial(side.p50, window(bed)) for name, side in sides.items()}
    return interleaved(bed.scale.rounds, measures, bed.say)


def figure_of(
    sides: Mapping[str, Trickle], unit: str, value: Callable[[Sample], float], *targets: Target
) -> Figure:
    """Another figure of the same samples."""
    found = {name: [value(each) for each in side.samples] for name, side in sides.items()}
    return Figure(unit, found, targets)


@dataclass(frozen=True)
class Fewer:
    """What the first connectors took, before there were more of them."""

    size: int
    samples: Sequence[Sample]

    def growth(self, more: Trickle) -> Figure:
        """What each of those that were added costs, beside each of the first."""
        first = [each.cpu / self.size for each in self.samples]
        pairs = zip(self.samples, more.samples, strict=True)
        added = [(b.cpu - a.cpu) / (more.size - self.size) for a, b in pairs]
        name = f"each of the first {self.size}"
        sides = {f"each from {self.size} to {more.size}": added, name: first}
        return Figure(CPU, sides, [Target(name, at_most=LINEAR)])

    def told(self) -> str:
        """For people."""
        p50, p95 = (median([s.percentile(part) for s in self.samples]) for part in (0.5, 0.95))
        cpu = median([each.cpu for each in self.samples])
        broker = median([each.broker_cpu for each in self.samples])
        return (
            f"Before that, {self.size} of them on the same worker: p50 {p50:,.0f} ms, p95 "
            f"{p95:,.0f} ms, {cpu:.1f} CPU seconds per minute, the broker {broker:.1f}. Linear: an "
            f"additional one costs at most {LINEAR:g} times as much as each of those, the worker's "
            "own cost among theirs; with both cores full it costs less, and comes later."
        )


def fewer(bed: Bed, side: Trickle, size: int) -> Fewer:
    """Sample a side with its first connectors."""
    side.grow_to(size)
    side.warm_up(bed.scale.minute)
    for number in range(bed.scale.rounds):
        late = side.p50(window(bed))
        bed.say(f"round {number + 1} of {bed.scale.rounds}, with {size}: {late:,.4g}")
    return Fewer(size, side.samples)
