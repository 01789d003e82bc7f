"""The REST API with very many connectors, all of them stopped."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache

from bench.bed import Bed
from bench.results import CONNECT, OURS, RowResult, Target
from bench.rounds import median, order, percentile
from bench.row import Row
from bench.stopped_flock import StoppedFlock, each_milliseconds

# More per connector among many than among few, beyond this, is not linear growth.
LINEAR = 1.25
PORTIONS = 10


@dataclass(frozen=True)
class Found:
    """One side in one round: seconds of every creation, milliseconds of every list."""

    creations: list[float]
    lists: list[float]


def listing_p50(bed: Bed) -> RowResult:
    """The usual list."""
    return _listing(bed, 0.5)


def listing_p99(bed: Bed) -> RowResult:
    """The slowest of a hundred lists."""
    return _listing(bed, 0.99)


def creating(bed: Bed) -> RowResult:
    """Ours among few and among many, and theirs."""
    rounds, (few, _, all_) = _rounds(bed), bed.scale.stopped
    ours = [found[OURS].creations for found in rounds]
    theirs = [found[CONNECT].creations for found in rounds]
    last, first = f"{OURS}, the last of {all_:,}", f"{OURS}, the first {few:,}"
    return RowResult(
        unit="ms for each",
        sides={
            f"{OURS}, all {all_:,}": [each_milliseconds(each) for each in ours],
            f"{CONNECT}, all {all_:,}": [each_milliseconds(each) for each in theirs],
            first: [each_milliseconds(each[:few]) for each in ours],
            last: [each_milliseconds(each[-few:]) for each in ours],
        },
        targets=[
            Target(f"{CONNECT}, all {all_:,}", at_most=1.0),
            Target(first, at_most=LINEAR),
        ],
        notes=[
            "One after the other over one connection, each with initial_state STOPPED.",
            f"Linear growth: one among all costs at most {LINEAR:g} times one of the first.",
            *(
                f"{size:,} connectors: {_total(ours, size):.2f} s here, "
                f"{_total(theirs, size):.2f} s there."
                for size in bed.scale.stopped
            ),
        ],
    )


ROWS = (
    Row("rest-listing-p50", "1,000 stopped connectors with info and status", listing_p50),
    Row("rest-listing-p99", "1,000 stopped connectors with info and status", listing_p99),
    Row("rest-creating", "Creating 1,000 stopped connectors", creating),
)


def _listing(bed: Bed, part: float) -> RowResult:
    rounds = _rounds(bed)
    return RowResult(
        unit=f"ms, p{part * 100:.0f}",
        sides={
            side: [percentile(found[side].lists, part) for found in rounds]
            for side in (OURS, CONNECT)
        },
        targets=[Target(CONNECT, at_most=1.0)],
        notes=[
            f"GET /connectors?expand=status&expand=info of {bed.scale.stopped[-1]:,} connectors, "
            f"{bed.scale.listings} times in a round, until the last byte."
        ],
    )


def _total(rounds: list[list[float]], size: int) -> float:
    """Seconds until so many were there."""
    return median([sum(each[:size]) for each in rounds])


@cache
def _rounds(bed: Bed) -> list[Mapping[str, Found]]:
    """Measured once for all rows of this family: a thousand connectors take their time."""
    return [_round(bed, number) for number in range(bed.scale.rounds)]


def _round(bed: Bed, number: int) -> Mapping[str, Found]:
    """New workers of both kinds, filled one after the other, then asked in turns."""
    size = bed.scale.stopped[-1]
    with bed.new_penstock() as ours, bed.new_kafka_connect() as theirs:
        workers = {OURS: ours, CONNECT: theirs}
        flocks = {
            side: StoppedFlock(bed, workers[side], size) for side in order(list(workers), number)
        }
        with closing(flocks[OURS]), closing(flocks[CONNECT]):
            lists = _lists(bed, flocks)
    found = {side: Found(flocks[side].seconds, lists[side]) for side in workers}
    for side, each in found.items():
        bed.say(
            f"round {number + 1} of {bed.scale.rounds}, {side}: {sum(each.creations):.1f} s to "
            f"create {size:,}, {percentile(each.lists, 0.5):.3g} ms to list them"
        )
    return found


def _lists(bed: Bed, flocks: Mapping[str, StoppedFlock]) -> dict[str, list[float]]:
    """In small portions by turns; the first of each side, which warm it up, do not count."""
    portion = max(1, bed.scale.listings // PORTIONS)
    found: dict[str, list[float]] = {side: [] for side in flocks}
    for flock in flocks.values():
        flock.list_milliseconds(bed.scale.listings)
    for number in range(PORTIONS):
        for side in order(list(flocks), number):
            found[side] += flocks[side].list_milliseconds(portion)
    return found
