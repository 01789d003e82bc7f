"""File to topic: ours against a bare loop and against Kafka Connect's FileStreamSource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bench.bed import Bed
from bench.deliveries import Delivery
from bench.moves import SOURCE, Config, Job, by_bare_loop, by_worker, one_connector_per_file
from bench.rest_worker import RestWorker
from bench.results import CONNECT, OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.variants import SOURCE_VARIANTS, Variant, best

BARE = "bare produce() loop"
TUNED = "kafka connect, tuned"
GLOB = "file.glob"

TUNING = (
    "Tuned, Kafka Connect has whatever configuration of the connector and its producer a trial "
    "found quickest; ours needs none."
)

Run = Callable[[], Delivery]


def one_task(bed: Bed) -> RowResult:
    """One file, one task."""
    small, large = Job([bed.lines(bed.scale.warm_up_lines)]), Job([bed.lines(bed.scale.lines)])
    warm_up(bed, small, large)
    by_bare_loop(bed, small)
    chosen, trials = best_connect(bed, small)
    runs: dict[str, Run] = {
        OURS: lambda: by_penstock(bed, large),
        BARE: lambda: by_bare_loop(bed, large),
        CONNECT: lambda: by_connect(bed, large, {}),
        TUNED: lambda: by_connect(bed, large, chosen.config),
    }
    figures, deliveries = measure(bed, runs)
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[
            Target(BARE, at_least=0.85),
            Target(CONNECT, at_least=2.5),
            Target(TUNED, at_least=1.5),
        ],
        notes=[
            "Ours and the bare loop are exactly once. Kafka Connect's is at least once.",
            TUNING,
        ],
        details={"deliveries": deliveries, "kafka_connect_trials": trials},
    )


def two_tasks(bed: Bed) -> RowResult:
    """Two files, two tasks, against the same bytes as one file."""
    small, large = two_files(bed, bed.scale.warm_up_lines), two_files(bed, bed.scale.lines)
    warm_up(bed, small, large)
    chosen, trials = best_connect(bed, one_file_like(bed, small))
    whole = one_file_like(bed, large)
    runs: dict[str, Run] = {
        OURS: lambda: by_penstock(bed, large),
        CONNECT: lambda: by_connect(bed, whole, {}),
        TUNED: lambda: by_connect(bed, whole, chosen.config),
    }
    figures, deliveries = measure(bed, runs)
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(CONNECT, at_least=4.0), Target(TUNED, at_least=2.0)],
        notes=[
            f"Ours is {_shape(bed.penstock)}, exactly once.",
            "A FileStreamSource of Kafka Connect only ever has one task: it reads as many lines "
            "from one file, at least once.",
            TUNING,
        ],
        details={"deliveries": deliveries, "kafka_connect_trials": trials},
    )


ROWS = (
    Row("file-to-topic-1", "File to topic, one task", one_task),
    Row("file-to-topic-2", "File to topic, two tasks", two_tasks),
)


def two_files(bed: Bed, lines: int) -> Job:
    """Two files of that many lines each, alone in their folder."""
    names = [f"two-of-{lines}/{half}.txt" for half in ("a", "b")]
    return Job([bed.lines(lines, name) for name in names], partitions=2)


def one_file_like(bed: Bed, job: Job) -> Job:
    """As many lines in one file."""
    return Job([bed.lines(sum(file.lines for file in job.files))], job.partitions)


def warm_up(bed: Bed, small: Job, large: Job) -> None:
    """Let our worker start Spark, fork its Python workers and compile what it runs."""
    for job in (small, small, large):
        rate = by_penstock(bed, job).records_per_second
        bed.say(f"warm-up of penstock, {job.expected().records:,} records: {rate:,.0f}")


def best_connect(bed: Bed, job: Job) -> tuple[Variant, dict[str, float]]:
    """The config with which Kafka Connect is quickest; finding out is its warm-up."""
    return best(
        SOURCE_VARIANTS, lambda config: by_connect(bed, job, config).records_per_second, bed.say
    )


def by_penstock(bed: Bed, job: Job) -> Delivery:
    """Ours, visible once committed."""
    several = len(job.files) > 1 and _takes_globs(bed.penstock)
    configs = [_one_connector(job)] if several else one_connector_per_file(job, {})
    return by_worker(bed, bed.penstock, configs, job, committed=True)


def by_connect(bed: Bed, job: Job, more: Config) -> Delivery:
    """Kafka Connect's, visible at once: it knows no transaction here."""
    configs = one_connector_per_file(job, more)
    return by_worker(bed, bed.kafka_connect, configs, job, committed=False)


def measure(
    bed: Bed, runs: Mapping[str, Run]
) -> tuple[dict[str, list[float]], dict[str, list[Any]]]:
    """The records per second of each round, and all times behind them."""
    deliveries: dict[str, list[Any]] = {side: [] for side in runs}

    def rate(side: str) -> float:
        delivery = runs[side]()
        deliveries[side].append(delivery.as_json())
        return delivery.records_per_second

    sides = {side: partial(rate, side) for side in runs}
    return interleaved(bed.scale.rounds, sides, bed.say), deliveries


def _one_connector(job: Job) -> Config:
    pattern = job.files[0].path.with_name("*.txt")
    return {**SOURCE, GLOB: str(pattern), "tasks.max": str(len(job.files))}


def _takes_globs(worker: RestWorker) -> bool:
    keys = worker.client.plugin_config("FileStreamSource")
    return any(key["name"] == GLOB for key in keys)


def _shape(worker: RestWorker) -> str:
    if _takes_globs(worker):
        return f"one connector with {GLOB} and tasks.max=2"
    return "two connectors, one per file"
