"""Many connectors with a trickle each: how late a line is, and what that costs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from confluent_kafka import KafkaError

from bench.bed import Bed
from bench.moves import SOURCE
from bench.process_tree import CpuMeter, memory_bytes
from bench.rest_worker import RestWorker
from bench.results import CONNECT, OURS, RowResult, Target
from bench.rounds import interleaved, median, percentile
from bench.row import Row

LONGEST_SECONDS = 300.0
LOOK_SECONDS = 0.25
PART_OF_ALL = 0.9
"""Lines of the warm-up's last second that must have arrived before anything is timed."""


class Trickle:
    """Connectors of one worker, a file each, all into one topic."""

    def __init__(self, bed: Bed, worker: RestWorker, size: int) -> None:
        self.worker = worker
        self._topic = bed.topic()
        self._consumer = self._topic.reader(at_end=True)
        folder = bed.folder / bed.name("trickle")
        folder.mkdir()
        self._files = [folder / f"{number}.txt" for number in range(size)]
        for number, file in enumerate(self._files):
            file.write_text("")
            config = {**SOURCE, "file": str(file), "topic": self._topic.name}
            worker.create(f"{folder.name}-{number}", config)
        self.late: list[float] = []
        self.cpu: list[float] = []
        self.memory = 0

    def warm_up(self) -> None:
        """Return once a line a second of every file arrives within a few seconds."""
        began = time.monotonic()
        with _appending(self._files):
            while len(self._received(5.0)) < PART_OF_ALL * 5 * len(self._files):
                if time.monotonic() - began > LONGEST_SECONDS:
                    raise TimeoutError(f"{self.worker.label} does not keep up")

    def p50(self, seconds: float) -> float:
        """The middle latency in milliseconds of a line a second of every file, for a while."""
        meter, began = CpuMeter(self.worker.pid), time.monotonic()
        with _appending(self._files):
            late = self._received(seconds, meter)
        self.cpu.append(meter.seconds / (time.monotonic() - began) * 60)
        self.memory = max(self.memory, memory_bytes(self.worker.pid))
        self.late += late
        return percentile(late, 0.5)

    def _received(self, seconds: float, meter: CpuMeter | None = None) -> list[float]:
        """How late each line was that has arrived, in milliseconds."""
        late: list[float] = []
        until, looked = time.monotonic() + seconds, 0.0
        while (now := time.monotonic()) < until:
            for message in self._consumer.consume(1000, timeout=0.01):
                if (error := message.error()) is None:
                    late.append((time.time() - float(message.value() or b"0")) * 1000)
                elif error.code() != KafkaError._PARTITION_EOF:
                    raise RuntimeError(f"reading: {error.str()}")
            if meter is not None and now - looked > LOOK_SECONDS:
                meter.look()
                looked = now
        return late


@contextmanager
def _appending(files: list[Path]) -> Iterator[None]:
    """Every file gets a line a second, the time at which it was written; one after the other."""
    done = threading.Event()

    def append() -> None:
        turn, began = 0, time.monotonic()
        while not done.wait(max(0.0, began + turn / len(files) - time.monotonic())):
            with files[turn % len(files)].open("ab", buffering=0) as file:
                file.write(f"{time.time():.6f}\n".encode())
            turn += 1

    writer = threading.Thread(target=append, name="trickle")
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()


def trickle(bed: Bed) -> RowResult:
    """Each side by itself; the other one's connectors are idle meanwhile."""
    size, seconds = bed.scale.trickling, bed.scale.minute
    with bed.new_penstock() as ours, bed.new_kafka_connect() as theirs:
        sides = {OURS: Trickle(bed, ours, size), CONNECT: Trickle(bed, theirs, size)}
        for side in sides.values():
            bed.say(f"{side.worker.label}: waiting until {size} connectors run")
            side.warm_up()
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
            f"{size} file sources, each with a line a second, until a read_committed consumer has "
            "it. Kafka Connect as it comes: at least once.",
            *(f"{name}: {_cost(side)}" for name, side in sides.items()),
        ],
        details={
            name: {
                "p95_ms": percentile(side.late, 0.95),
                "cpu_seconds_per_minute": side.cpu,
                "memory_bytes": side.memory,
            }
            for name, side in sides.items()
        },
    )


def _cost(side: Trickle) -> str:
    return (
        f"p95 {percentile(side.late, 0.95):,.0f} ms, {median(side.cpu):.1f} CPU seconds per "
        f"minute, {side.memory / 1e6:,.0f} MB."
    )


ROWS = (Row("trickle-100", "100 connectors with a line a second each", trickle),)
