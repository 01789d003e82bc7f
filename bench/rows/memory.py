"""Memory of a worker's process tree, without the broker: after its start, idle, and busy."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from bench.bed import Bed
from bench.deliveries import Delivery
from bench.moves import Job
from bench.process_tree import memory_bytes, peak_memory
from bench.rest_worker import RestWorker
from bench.results import CONNECT, OURS, RowResult
from bench.rounds import interleaved
from bench.row import Row
from bench.rows.file_to_topic import by_connect, by_penstock
from bench.tails import Tail

MEGABYTE = 1e6
SETTLE_SECONDS = 5.0
NOTE = "PSS of the process tree: memory that its processes share counts once."


def after_start(bed: Bed) -> RowResult:
    """Workers that have just started; ours without Spark, which the first turn starts."""

    def started(start: Callable[[], RestWorker]) -> float:
        with start() as worker:
            time.sleep(SETTLE_SECONDS)
            return _megabytes(worker)

    sides = {
        OURS: lambda: started(bed.new_penstock),
        CONNECT: lambda: started(bed.new_kafka_connect),
    }
    return RowResult("MB", interleaved(bed.scale.rounds, sides, bed.say), notes=[NOTE])


def idle(bed: Bed) -> RowResult:
    """Workers with one connector that has run, a minute later; both in the same minutes."""
    figures: dict[str, list[float]] = {OURS: [], CONNECT: []}
    with (
        bed.new_penstock() as ours,
        bed.new_kafka_connect() as theirs,
        Tail(bed, ours) as our_tail,
        Tail(bed, theirs) as their_tail,
    ):
        for number in range(bed.scale.rounds):
            for tail in (our_tail, their_tail):
                tail.latency_milliseconds()
            bed.say(f"round {number + 1} of {bed.scale.rounds}: idle for {bed.scale.minute:.0f} s")
            time.sleep(bed.scale.minute)
            _note(figures, {OURS: ours, CONNECT: theirs})
    return RowResult("MB", figures, notes=[NOTE])


def busy(bed: Bed) -> RowResult:
    """The most memory seen while a file goes to a topic, in workers that have done it before."""
    job = Job([bed.lines(bed.scale.lines)])
    moves: dict[str, tuple[RestWorker, Callable[[], Delivery]]] = {
        OURS: (bed.penstock, lambda: by_penstock(bed, job)),
        CONNECT: (bed.kafka_connect, lambda: by_connect(bed, job, {})),
    }

    def peak(side: str) -> float:
        worker, move = moves[side]
        with peak_memory(worker.pid) as found:
            move()
        return found.memory_bytes / MEGABYTE

    sides = {OURS: lambda: peak(OURS), CONNECT: lambda: peak(CONNECT)}
    for side in sides:
        peak(side)
    return RowResult("MB", interleaved(bed.scale.rounds, sides, bed.say), notes=[NOTE])


ROWS = (
    Row("memory-after-start", "Memory of the worker, just started", after_start),
    Row("memory-idle", "Memory of the worker, one idle connector for a minute", idle),
    Row("memory-busy", "Memory of the worker, most seen during file to topic", busy),
)


def _note(figures: dict[str, list[float]], workers: Mapping[str, RestWorker]) -> None:
    for side, worker in workers.items():
        figures[side].append(_megabytes(worker))


def _megabytes(worker: RestWorker) -> float:
    return memory_bytes(worker.pid) / MEGABYTE
