"""Latency: 100 lines appended until a read_committed consumer has all of them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bench.bed import Bed
from bench.child import Child
from bench.results import CONNECT, OURS, RowResult, Target
from bench.rounds import interleaved, order, percentile
from bench.row import Row
from bench.tails import Tail

SPARK = "empty Spark job, one Python hop"
# Kafka Connect's task looks once a second: pauses as different as these meet it early and late
# alike.
ACTIVE_SECONDS, ACTIVE_JITTER = 0.45, 0.4
# Every side gets a sample once in this time, and is left alone for the rest of it: a lease ends
# after ten seconds without lines.
IDLE_SECONDS, IDLE_JITTER = 14.0, 1.5

Sample = Callable[[], float]


def active(bed: Bed) -> RowResult:
    """The next lines come before our lease has ended."""
    samples: dict[str, list[list[float]]] = {OURS: [], CONNECT: []}
    with Tail(bed, bed.penstock) as ours, Tail(bed, bed.kafka_connect) as theirs:
        tails = {OURS: ours, CONNECT: theirs}

        def median_of_burst(side: str) -> float:
            burst = _burst(tails[side].latency_milliseconds, bed.scale.active_samples)
            samples[side].append(burst)
            return percentile(burst, 0.5)

        for side in tails:
            median_of_burst(side)
            samples[side].clear()  # That was the warm-up.
        figures = interleaved(
            bed.scale.rounds, {side: partial(median_of_burst, side) for side in tails}, bed.say
        )
    return RowResult(
        unit="ms, p50",
        sides=figures,
        targets=[Target(CONNECT, at_most=3.0)],
        notes=["Ours is visible once committed. Kafka Connect's has no transaction to wait for."],
        details={"samples_ms": samples, **_tails_of(samples)},
    )


def idle(bed: Bed) -> RowResult:
    """Nothing came for so long that no lease runs: a new one is handed over."""
    jars = [str(jar) for jar in bed.jars.spark]
    folder = bed.folder / "empty-job"
    folder.mkdir(exist_ok=True)
    bed.say("starting a Spark session for empty jobs")
    with (
        Child("bench.empty_spark_job", str(folder), *jars) as spark,
        Tail(bed, bed.penstock) as ours,
        Tail(bed, bed.kafka_connect) as theirs,
    ):
        sides: dict[str, Sample] = {
            OURS: ours.latency_milliseconds,
            SPARK: lambda: float(spark.ask("job")),
            CONNECT: theirs.latency_milliseconds,
        }
        _apart(sides, 2)
        samples = _idle_rounds(bed, sides)
    return RowResult(
        unit="ms, p50",
        sides={
            side: [percentile(each, 0.5) for each in rounds] for side, rounds in samples.items()
        },
        targets=[Target(SPARK, at_most=3.0), Target(CONNECT, at_most=0.5)],
        notes=["Kafka Connect's task looks at its file once a second."],
        details={"samples_ms": samples, **_tails_of(samples)},
    )


ROWS = (
    Row("latency-active", "100 lines until visible, in an active lease", active),
    Row("latency-idle", "100 lines until visible, from idle", idle),
)


def _burst(sample: Sample, count: int) -> list[float]:
    return [_after_pause(sample, ACTIVE_SECONDS, ACTIVE_JITTER) for _ in range(count)]


def _idle_rounds(bed: Bed, sides: Mapping[str, Sample]) -> dict[str, list[list[float]]]:
    samples: dict[str, list[list[float]]] = {side: [] for side in sides}
    for number in range(bed.scale.rounds):
        taken = _apart(
            {side: sides[side] for side in order(list(sides), number)}, bed.scale.idle_samples
        )
        for side, found in taken.items():
            samples[side].append(found)
            middle = percentile(found, 0.5)
            bed.say(f"round {number + 1} of {bed.scale.rounds}, {side}: {middle:,.4g}")
    return samples


def _apart(sides: Mapping[str, Sample], count: int) -> dict[str, list[float]]:
    """Samples of all sides in turns: each is left alone while the others have theirs."""
    samples: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(count):
        for side, sample in sides.items():
            samples[side].append(
                _after_pause(sample, IDLE_SECONDS / len(sides), IDLE_JITTER / len(sides))
            )
    return samples


def _after_pause(sample: Sample, seconds: float, jitter: float) -> float:
    """Jitter, so that no side's own rhythm is met at the same point again and again."""
    time.sleep(seconds + random.uniform(-jitter, jitter))  # noqa: S311 - nothing secret about it
    return sample()


def _tails_of(samples: Mapping[str, list[list[float]]]) -> dict[str, Any]:
    every = {side: [one for each in rounds for one in each] for side, rounds in samples.items()}
    return {
        "p95_ms": {side: percentile(all_, 0.95) for side, all_ in every.items()},
        "max_ms": {side: max(all_) for side, all_ in every.items()},
    }
