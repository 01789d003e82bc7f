"""Many connectors with a trickle each, alone and beside a busy one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from bench.bed import Bed
from bench.deliveries import LONGEST_SECONDS
from bench.line_files import LineFile
from bench.moves import Job, one_connector_per_file
from bench.rest_worker import RestWorker
from bench.results import CONNECT, OURS, Figure, RowResult, Target
from bench.rounds import interleaved, median
from bench.row import Row
from bench.trickle_rounds import CPU, fewer, figure_of, sampled, warmed, window
from bench.trickling import Make, SinkTrickle, SourceTrickle
from penstock.client.waiting import raise_if_failed, wait_until

EXACTLY_ONCE = "kafka connect, exactly once"
ALONE = "nothing beside"
TRICKLING = 100
SUFFERS = 1.5
LOOK_SECONDS = 0.1


def trickle(
    bed: Bed, make: Make, usual: int, *, exactly_once: bool = False, before: int = 0
) -> RowResult:
    """Each side by itself; the others' connectors are idle meanwhile."""
    size = bed.scale.some(usual)
    with ExitStack() as stack:
        made = {OURS: make(bed, stack.enter_context(bed.new_penstock()))}
        first = fewer(bed, made[OURS], bed.scale.some(before)) if before else None
        made[CONNECT] = make(bed, stack.enter_context(bed.new_kafka_connect()))
        if exactly_once:
            worker = bed.new_kafka_connect({"exactly.once.source.support": "enabled"})
            made[EXACTLY_ONCE] = make(bed, stack.enter_context(worker))
        sides = warmed(bed, made, size, needed=(OURS, CONNECT))
        figures = sampled(bed, sides)
    at_most_theirs = Target(CONNECT, at_most=1.0)
    return RowResult(
        unit="ms, p50",
        sides=figures,
        targets=[Target(CONNECT, at_most=0.5)],
        also=[
            figure_of(sides, "ms, p95", lambda s: s.percentile(0.95), at_most_theirs),
            figure_of(sides, CPU, lambda s: s.cpu, at_most_theirs),
            *([first.growth(made[OURS])] if first else []),
        ],
        notes=[
            f"{size} connectors, each with a record a second, until it is there to be read. Kafka "
            "Connect as it comes: at least once.",
            *(f"{name}: {side.cost()}" for name, side in sides.items()),
            *([first.told()] if first else []),
            *(f"{n} did not keep up, and was not measured." for n in made if n not in sides),
        ],
        details={name: side.details() for name, side in sides.items()},
    )


def active_and_trickle(bed: Bed) -> RowResult:
    """Trickling connectors with and without one beside them that moves all it can."""
    lines = bed.lines(bed.scale.lines)
    beside, alone = f"{OURS}, beside those that trickle", ALONE
    rates: dict[str, list[float]] = {beside: [], alone: []}
    with bed.new_penstock() as worker:
        side = SourceTrickle(bed, worker)
        warmed(bed, {OURS: side}, bed.scale.some(TRICKLING), needed=(OURS,))
        rate = partial(_lines_per_second, bed, worker, lines)
        rate()  # That was the warm-up.

        def both() -> float:
            rates[alone].append(rate())
            with _again_and_again(rate) as found:
                late = side.p50(window(bed))
            rates[beside].append(median(found))
            return late

        figures = interleaved(
            bed.scale.rounds, {OURS: both, ALONE: partial(side.p50, window(bed))}, bed.say
        )
    return RowResult(
        unit="ms, p50",
        sides=figures,
        targets=[Target(ALONE, at_most=SUFFERS)],
        also=[Figure("lines/s", rates, [Target(ALONE, at_least=round(1 / SUFFERS, 2))])],
        notes=[
            f"{side.size} sources with a line a second each, and one file of {lines.lines:,} lines "
            f"that is read at full speed, again and again. Neither may suffer by more than "
            f"{SUFFERS:g} times.",
        ],
        details={"lines_per_second": rates},
    )


def _lines_per_second(bed: Bed, worker: RestWorker, lines: LineFile) -> float:
    """Of a new connector, until all is committed; what arrived is not read back, which would
    take a core from both."""
    topic, name = bed.topic(), bed.name("busy")
    [config] = one_connector_per_file(Job([lines]), {"topic": topic.name})

    def full() -> float | None:
        raise_if_failed(worker.client, name)
        ended = sum(topic.ends(committed=True).values()) >= lines.lines
        return time.perf_counter() if ended else None

    try:
        started = worker.create(name, config)
        ended = wait_until(full, f"all lines of {name}", LONGEST_SECONDS, LOOK_SECONDS)
        return lines.lines / (ended - started)
    finally:
        worker.delete(name)
        topic.delete()


@contextmanager
def _again_and_again(measure: Callable[[], float]) -> Iterator[list[float]]:
    """Measure something on another thread until the with statement ends; at least once."""
    found: list[float] = []
    done = threading.Event()

    def go_on() -> None:
        while not done.is_set() or not found:
            found.append(measure())

    thread = threading.Thread(target=go_on, name="beside")
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()


def _row(kind: str, make: Make, size: int, **more: Any) -> Row:
    return Row(
        f"trickle-{kind}{size}",
        f"{size} {'sinks' if kind else 'sources'} with a record a second each",
        partial(trickle, make=make, usual=size, **more),
    )


ROWS = (
    _row("", SourceTrickle, 20, exactly_once=True),
    _row("", SourceTrickle, 100, exactly_once=True),
    _row("", SourceTrickle, 500, exactly_once=True, before=TRICKLING),
    _row("sinks-", SinkTrickle, 20),
    _row("sinks-", SinkTrickle, 100),
    _row("sinks-", SinkTrickle, 500, before=TRICKLING),
    Row("active-and-trickle", "100 trickling sources beside a busy one", active_and_trickle),
)
