"""Many connectors with a trickle each, alone and beside a busy one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

from bench.bed import Bed
from bench.moves import Job, by_worker, one_connector_per_file
from bench.results import CONNECT, OURS, RowResult, Target
from bench.rounds import interleaved, median
from bench.row import Row
from bench.trickling import Make, SinkTrickle, SourceTrickle, Trickle

EXACTLY_ONCE = "kafka connect, exactly once"
ALONE = "penstock, nothing beside"
TRICKLING = 100


def trickle(bed: Bed, make: Make, usual: int, *, exactly_once: bool) -> RowResult:
    """Each side by itself; the others' connectors are idle meanwhile."""
    size, seconds = bed.scale.some(usual), bed.scale.minute
    with ExitStack() as stack:
        workers = {
            OURS: stack.enter_context(bed.new_penstock()),
            CONNECT: stack.enter_context(bed.new_kafka_connect()),
        }
        if exactly_once:
            support = {"exactly.once.source.support": "enabled"}
            workers[EXACTLY_ONCE] = stack.enter_context(bed.new_kafka_connect(support))
        sides, left_out = _warm_sides(bed, {n: make(bed, w, size) for n, w in workers.items()})
        figures = interleaved(
            bed.scale.rounds,
            {name: partial(side.p50, seconds) for name, side in sides.items()},
            bed.say,
        )
    return RowResult(
        unit="ms, p50",
        sides=figures,
        targets=[Target(CONNECT, at_most=0.5)],
        notes=[
            f"{size} connectors, each with a record a second, until it is there to be read. Kafka "
            "Connect as it comes: at least once. Goals beside this one: p95 and CPU at most its.",
            *(f"{name}: {side.cost()}" for name, side in sides.items()),
            *(f"{name} did not keep up, and was not measured." for name in left_out),
        ],
        details={name: side.details() for name, side in sides.items()},
    )


def _warm_sides(bed: Bed, made: Mapping[str, Trickle]) -> tuple[dict[str, Trickle], list[str]]:
    """Those that keep up, and the names of the others, which have nothing to do any more."""
    left_out: list[str] = []
    for name, side in made.items():
        try:
            _warm(bed, side)
        except TimeoutError as error:
            if name in (OURS, CONNECT):
                raise
            bed.say(f"{error}: left out")
            left_out.append(name)
    return {name: side for name, side in made.items() if name not in left_out}, left_out


def _warm(bed: Bed, side: Trickle) -> Trickle:
    bed.say(f"{side.worker.label}: waiting until {side.size} connectors run")
    side.warm_up()
    return side


def active_and_trickle(bed: Bed) -> RowResult:
    """Trickling connectors with and without one beside them that moves all it can."""
    size, seconds = bed.scale.some(TRICKLING), bed.scale.minute
    job = Job([bed.lines(bed.scale.lines)])
    rates: dict[str, list[float]] = {"while they trickle": [], "while they are idle": []}
    with bed.new_penstock() as worker:
        side = _warm(bed, SourceTrickle(bed, worker, size))

        def rate() -> float:
            configs = one_connector_per_file(job, {})
            return by_worker(bed, worker, configs, job, committed=True).records_per_second

        def beside() -> float:
            rates["while they are idle"].append(rate())
            with _again_and_again(rate) as found:
                late = side.p50(seconds)
            rates["while they trickle"].append(median(found))
            return late

        figures = interleaved(
            bed.scale.rounds, {OURS: beside, ALONE: partial(side.p50, seconds)}, bed.say
        )
    return RowResult(
        unit="ms, p50",
        sides=figures,
        targets=[Target(ALONE, at_most=1.5)],
        notes=[
            f"{size} sources with a line a second each, and one file that is read at full speed.",
            *(
                f"The file, {when}: {median(each):,.0f} lines a second."
                for when, each in rates.items()
            ),
        ],
        details={"lines_per_second": rates},
    )


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


def _row(kind: str, make: Make, size: int, *, exactly_once: bool = False) -> Row:
    return Row(
        f"trickle-{kind}{size}",
        f"{size} {'sinks' if kind else 'sources'} with a record a second each",
        partial(trickle, make=make, usual=size, exactly_once=exactly_once),
    )


ROWS = (
    _row("", SourceTrickle, 20, exactly_once=True),
    _row("", SourceTrickle, 100, exactly_once=True),
    _row("", SourceTrickle, 500),
    _row("sinks-", SinkTrickle, 20),
    _row("sinks-", SinkTrickle, 100),
    _row("sinks-", SinkTrickle, 500),
    Row("active-and-trickle", "100 trickling sources beside a busy one", active_and_trickle),
)
