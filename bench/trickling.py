"""Many connectors of one worker with a record a second each: how late those are, at what cost."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from confluent_kafka import KafkaError, Producer

from bench.bed import Bed
from bench.moves import SOURCE
from bench.process_tree import CpuMeter, memory_bytes
from bench.rest_worker import RestWorker
from bench.rounds import median, percentile

LONGEST_SECONDS = 300.0
LOOK_SECONDS = 0.25
WARM_UP_SECONDS = 5.0
LEAST_WARM_UP_SECONDS = 60.0
"""The brokers' and the workers' virtual machines compile what is run often: for so long."""
PART_OF_ALL = 0.9
"""Records of the warm-up's last seconds that must have arrived before anything is timed."""
SINK = {"connector.class": "FileStreamSink", "tasks.max": "1"}


class Process(Protocol):
    """What is measured."""

    @property
    def label(self) -> str:
        """For people."""

    @property
    def pid(self) -> int:
        """The root of its processes."""


class Trickle(ABC):
    """Connectors that are there from the making of this on, until their worker ends."""

    def __init__(self, worker: Process, size: int) -> None:
        self.worker = worker
        self.size = size
        self.late: list[float] = []
        self.cpu: list[float] = []
        self.memory = 0

    def warm_up(self) -> None:
        """Return after a while, once a record a second of every connector arrives."""
        began = time.monotonic()
        wanted = PART_OF_ALL * WARM_UP_SECONDS * self.size
        with self.flowing():
            while (
                len(self._received(WARM_UP_SECONDS)) < wanted
                or time.monotonic() - began < LEAST_WARM_UP_SECONDS
            ):
                if time.monotonic() - began > LONGEST_SECONDS:
                    raise TimeoutError(f"{self.worker.label} does not keep up")

    def p50(self, seconds: float) -> float:
        """The middle latency in milliseconds of a record a second each, for a while."""
        meter, began = CpuMeter(self.worker.pid), time.monotonic()
        with self.flowing():
            late = self._received(seconds, meter)
        self.cpu.append(meter.seconds / (time.monotonic() - began) * 60)
        self.memory = max(self.memory, memory_bytes(self.worker.pid))
        self.late += late
        return percentile(late, 0.5)

    def drain(self, seconds: float) -> None:
        """Take what arrives for so long, and measure nothing."""
        self._received(seconds)

    def cost(self) -> str:
        """What it took, for people."""
        return (
            f"p95 {percentile(self.late, 0.95):,.0f} ms, {median(self.cpu):.1f} CPU seconds per "
            f"minute, {self.memory / 1e6:,.0f} MB."
        )

    def details(self) -> dict[str, object]:
        """The same, for programs."""
        return {
            "p95_ms": percentile(self.late, 0.95),
            "cpu_seconds_per_minute": self.cpu,
            "memory_bytes": self.memory,
        }

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Every connector gets a record a second, one after the other."""
        done = threading.Event()

        def flow() -> None:
            turn, began = 0, time.monotonic()
            while not done.wait(max(0.0, began + turn / self.size - time.monotonic())):
                self._feed(turn % self.size, f"{time.time():.6f}\n".encode())
                turn += 1

        feeder = threading.Thread(target=flow, name="trickle")
        feeder.start()
        try:
            yield
        finally:
            done.set()
            feeder.join()

    def _received(self, seconds: float, meter: CpuMeter | None = None) -> list[float]:
        """How late each record was that has been sent and has arrived meanwhile, in
        milliseconds."""
        late: list[float] = []
        since = time.time()
        until, looked = time.monotonic() + seconds, 0.0
        while (now := time.monotonic()) < until:
            late += [(time.time() - sent) * 1000 for sent in self._arrived() if sent >= since]
            if meter is not None and now - looked > LOOK_SECONDS:
                meter.look()
                looked = now
        return late

    @abstractmethod
    def _feed(self, number: int, line: bytes) -> None:
        """Give a connector a record that says when it was sent."""

    @abstractmethod
    def _arrived(self) -> list[float]:
        """When the records were sent that have arrived since; waits a moment for the first."""


class SourceTrickle(Trickle):
    """A file for each connector, all into one topic."""

    def __init__(self, bed: Bed, worker: RestWorker, size: int) -> None:
        super().__init__(worker, size)
        self._topic = bed.topic()
        self._consumer = self._topic.reader(at_end=True)
        folder = _folder(bed, "sources")
        self._files = [folder / f"{number}.txt" for number in range(size)]
        self.names = [f"{folder.name}-{number}" for number in range(size)]
        for name, file in zip(self.names, self._files, strict=True):
            file.write_text("")
            config = {**SOURCE, "file": str(file), "topic": self._topic.name}
            worker.create(name, config)

    def _feed(self, number: int, line: bytes) -> None:
        with self._files[number].open("ab", buffering=0) as file:
            file.write(line)

    def _arrived(self) -> list[float]:
        sent: list[float] = []
        for message in self._consumer.consume(1000, timeout=0.01):
            if (error := message.error()) is None:
                sent.append(float(message.value() or b"0"))
            elif error.code() != KafkaError._PARTITION_EOF:
                raise RuntimeError(f"reading: {error.str()}")
        return sent


class SinkTrickle(Trickle):
    """A topic and a file for each connector."""

    def __init__(self, bed: Bed, worker: RestWorker, size: int) -> None:
        super().__init__(worker, size)
        self._producer = Producer(
            {"bootstrap.servers": bed.connection.bootstrap_servers, "linger.ms": 0}
        )
        folder = _folder(bed, "sinks")
        self._topics = [bed.topic().name for _ in range(size)]
        self._tails = [_Tail(folder / f"{number}.txt") for number in range(size)]
        for number, topic in enumerate(self._topics):
            config = {**SINK, "topics": topic, "file": str(self._tails[number].path)}
            worker.create(f"{folder.name}-{number}", config)

    def _feed(self, number: int, line: bytes) -> None:
        self._producer.produce(self._topics[number], line.rstrip())
        self._producer.poll(0)

    def _arrived(self) -> list[float]:
        time.sleep(0.01)
        return [sent for tail in self._tails for sent in tail.new_lines()]


class _Tail:
    """The lines that a file gets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0

    def new_lines(self) -> list[float]:
        if not self.path.exists() or self.path.stat().st_size <= self._read:
            return []
        with self.path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return [float(line) for line in whole.split()]


def _folder(bed: Bed, kind: str) -> Path:
    folder = bed.folder / bed.name(kind)
    folder.mkdir()
    return folder


Make = Callable[[Bed, RestWorker, int], Trickle]
