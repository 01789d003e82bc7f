"""Listing the offsets of a source with many partitions, and altering one of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from bench.bed import Bed
from bench.rest_worker import RestWorker
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved, median
from bench.row import Row

# More per offset than this, relative to a tenth as many, is not linear growth.
LINEAR = 1.3
AT_ONCE = 5_000
# The middle one counts: a short answer takes no longer than a pause of the garbage collector.
REQUESTS = 5
CONFIG = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "file": "file-0.txt",
    "topic": "bench-unused",
}


def listing(bed: Bed) -> RowResult:
    """Ours alone: what each offset of the answer costs, in answers of growing length."""
    sizes = bed.scale.listing
    with bed.new_penstock() as worker:
        names = {size: _connector(bed, worker, size) for size in sizes}
        sides = {_side(size): _per_offset(worker, names[size], size) for size in reversed(sizes)}
        for measure in sides.values():
            measure()
        figures = interleaved(bed.scale.rounds, sides, bed.say)
        alter = {size: _altering(worker, names[size]) for size in sizes}
    return RowResult(
        unit="microseconds per offset",
        sides=figures,
        targets=[Target(_side(sizes[-2]), at_most=LINEAR)],
        notes=[
            f"Linear growth: an offset costs at most {LINEAR:g} times as much among ten times as "
            "many.",
            *_totals(sizes, figures, alter),
        ],
        details={"altering_one_milliseconds": {str(n): alter[n] * 1000 for n in sizes}},
    )


ROWS = (Row("offsets-listing", "GET offsets of 1,000, 10,000 and 100,000 partitions", listing),)


def _side(size: int) -> str:
    return f"{OURS}, {size:,}"


def _totals(
    sizes: tuple[int, ...], figures: Mapping[str, list[float]], alter: Mapping[int, float]
) -> list[str]:
    return [
        f"{size:,} offsets: {median(figures[_side(size)]) * size / 1e6:.2f} s; to alter one of "
        f"them {alter[size] * 1000:.0f} ms."
        for size in sizes
    ]


def _connector(bed: Bed, worker: RestWorker, size: int) -> str:
    """A stopped connector with so many offsets."""
    name = bed.name("listing")
    bed.say(f"setting {size:,} offsets")
    worker.client.create(name, CONFIG, "STOPPED")
    for first in range(0, size, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, size))
        worker.client.alter_offsets(name, [_offset(number, number) for number in numbers])
    return name


def _offset(number: int, position: int) -> dict[str, Any]:
    return {
        "partition": {"filename": f"/a/folder/of/files/file-{number}.txt"},
        "offset": {"position": position},
    }


def _per_offset(worker: RestWorker, name: str, size: int) -> Callable[[], float]:
    def measure() -> float:
        return median([_listed(worker, name, size) for _ in range(REQUESTS)]) / size * 1e6

    return measure


def _listed(worker: RestWorker, name: str, size: int) -> float:
    began = time.perf_counter()
    found = worker.client.offsets(name)
    took = time.perf_counter() - began
    if len(found) != size:
        raise RuntimeError(f"{len(found):,} of {size:,} offsets were listed")
    return took


def _altering(worker: RestWorker, name: str) -> float:
    began = time.perf_counter()
    worker.client.alter_offsets(name, [_offset(0, 1)])
    return time.perf_counter() - began
