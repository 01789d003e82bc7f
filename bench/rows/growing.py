"""Ours alone over one, four and sixteen times as many rows: what each additional one costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

from bench.bed import Bed
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved, median
from bench.row import Row
from bench.rows import mirroring, tables, topic_to_index
from bench.rows.topic_to_file import filled
from bench.search_server import SearchServer

# More per additional row than this, relative to the step before, is not linear growth.
LINEAR = 1.25
TIMES = (1, 4, 16)
PART = 40
"""So much fewer rows than lines of a file, for the smallest of the three."""
Rates = dict[int, Callable[[], float]]
"""How many rows, and what moves them and tells rows per second."""


def into_table(bed: Bed) -> RowResult:
    """A topic into a table, every row written twice."""
    with tables.database() as postgres:
        loads = {size: tables.filled(bed, size, "upsert") for size in _sizes(bed)}
        found = _grown(
            bed,
            {n: partial(tables.landed, bed, bed.penstock, postgres, loads[n]) for n in loads},
        )
    for load in loads.values():
        load.topic.delete()
    return found


def from_table(bed: Bed) -> RowResult:
    """A table into a topic."""
    with tables.database() as postgres:
        rates: Rates = {}
        for size in _sizes(bed):
            name = tables.stocked(bed, postgres, size)
            config = tables.ours_from(postgres, name)
            rates[size] = partial(tables.taken, bed, bed.penstock, config, name, size)
        return _grown(bed, rates)


def into_index(bed: Bed) -> RowResult:
    """A topic into an index."""
    folder = bed.folder / bed.name("search")
    folder.mkdir()
    with SearchServer(folder, bed.java) as search:
        topics = {size: filled(bed, bed.lines(size)) for size in _sizes(bed)}
        found = _grown(
            bed, {n: partial(topic_to_index.indexed, bed, search, topics[n], n) for n in topics}
        )
    for topic in topics.values():
        topic.delete()
    return found


def to_topic(bed: Bed) -> RowResult:
    """A topic into another one."""
    sources = {size: mirroring.filled(bed, size) for size in _sizes(bed)}
    move = partial(mirroring.mirrored, bed, bed.penstock)
    found = _grown(bed, {n: partial(move, *sources[n], {}) for n in sources})
    for topic, _ in sources.values():
        topic.delete()
    return found


ROWS = (
    Row("topic-to-table-growth", "Topic to PostgreSQL, upsert, ever more rows", into_table),
    Row("table-to-topic-growth", "PostgreSQL to topic, ever more rows", from_table),
    Row("topic-to-index-growth", "Topic to OpenSearch, ever more records", into_index),
    Row("mirror-growth", "Topic to topic, ever more records", to_topic),
)


def _sizes(bed: Bed) -> list[int]:
    return [times * max(500, bed.scale.lines // PART) for times in TIMES]


def _grown(bed: Bed, rates: Rates) -> RowResult:
    largest = max(rates)
    bed.say(f"warm-up, {largest:,} rows: {rates[largest]():,.0f} a second")
    sides = {f"{size:,} rows": rates[size] for size in rates}
    figures = interleaved(bed.scale.rounds, sides, bed.say)
    seconds = [
        (size, [size / rate for rate in figures[side]])
        for size, side in zip(rates, sides, strict=True)
    ]
    steps = [_step(*pair) for pair in pairwise(seconds)]
    return RowResult(
        unit="microseconds per additional row",
        sides=dict(reversed(steps)),
        targets=[Target(steps[0][0], at_most=LINEAR)],
        notes=[
            f"Linear growth: an additional row costs at most {LINEAR:g} times as much among more. "
            "One task.",
            *(f"{size:,} rows: {median(taken):.2f} s." for size, taken in seconds),
        ],
        details={"seconds": {str(size): taken for size, taken in seconds}},
    )


Measured = tuple[int, list[float]]


def _step(fewer: Measured, more: Measured) -> tuple[str, list[float]]:
    """What each of the additional rows costs, round by round."""
    added = more[0] - fewer[0]
    costs = [(b - a) / added * 1e6 for a, b in zip(fewer[1], more[1], strict=True)]
    return f"{OURS}, from {fewer[0]:,} to {more[0]:,}", costs
