"""Many connectors of one worker with a record a second each: how late those are, at what cost."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from confluent_kafka import Consumer, KafkaError, Message, Producer

from bench.bed import Bed
from bench.moves import SOURCE
from bench.process_tree import CpuMeter, memory_bytes
from bench.rest_worker import RestWorker
from bench.rounds import median, percentile

LONGEST_SECONDS = 180.0
LOOK_SECONDS = 0.25
SINK_LOOK_SECONDS = 0.002
"""Records pass a sink within milliseconds."""
STEP_SECONDS = 5.0
LEAD_IN_SECONDS = 5.0
"""What begins after a pause is not yet a steady trickle."""
MOST_BEHIND_SECONDS = 10.0
"""Of records under way at the end of the warm-up, and what those of a sample may take longer."""
PART_OF_ALL = 0.9
"""Of as many records as came, what must have arrived meanwhile: then none is ever more behind."""
MICROSECONDS = 1_000_000
SINK = {"connector.class": "FileStreamSink", "tasks.max": "1"}

Record = tuple[int, int]
"""The number of its connector, and when it was sent, in microseconds: which no other has."""


class Process(Protocol):
    """What is measured."""

    @property
    def label(self) -> str:
        """For people."""

    @property
    def pid(self) -> int:
        """The root of its processes."""

    def stop(self) -> None:
        """End it."""


@dataclass(frozen=True)
class Sample:
    """What one round has found."""

    late: Mapping[int, list[float]]
    """By the connector's number: how late each of its records was, in milliseconds."""
    cpu: float
    """Processor seconds per minute, of the process and all below it."""
    broker_cpu: float
    """The same of the broker, which all sides share."""
    memory: int

    def percentile(self, part: float) -> float:
        """Of all records."""
        return percentile([one for each in self.late.values() for one in each], part)

    @property
    def middles(self) -> list[float]:
        """The middle latency of each connector."""
        return [percentile(each, 0.5) for each in self.late.values()]


class Trickle(ABC):
    """Connectors, none at first, that are there until their worker ends."""

    def __init__(self, bed: Bed, worker: Process) -> None:
        self.worker = worker
        self.size = 0
        self.samples: list[Sample] = []
        self._bed = bed
        self._pending: set[Record] = set()

    def grow_to(self, size: int) -> None:
        """Make more connectors; TimeoutError if that takes forever. What was sampled with fewer
        is no more in ``samples``."""
        self._bed.say(f"{self.worker.label}: from {self.size} to {size} of them")
        began = time.monotonic()
        for number in range(self.size, size):
            self._add(number)
            if time.monotonic() - began > LONGEST_SECONDS:
                raise TimeoutError(f"{self.worker.label} has {number} of {size} by now")
        self.size, self.samples = size, []

    def warm_up(self, least: float) -> None:
        """Return once what arrives is as much as what comes, and soon there; after ``least``
        seconds, as virtual machines compile what is run often. TimeoutError if it never is."""
        began = time.monotonic()
        with self.flowing():
            while True:
                before = len(self._pending)
                self.drain(STEP_SECONDS)
                seconds, behind = time.monotonic() - began, len(self._pending)
                grown = behind - before > (1 - PART_OF_ALL) * STEP_SECONDS * self.size
                near = behind <= MOST_BEHIND_SECONDS * self.size
                if seconds >= least and near and not grown:
                    return
                if seconds > LONGEST_SECONDS:
                    raise TimeoutError(f"{self.worker.label} does not keep up")

    def p50(self, seconds: float) -> float:
        """The middle latency in milliseconds of a record a second each, for a while."""
        with self.flowing():
            self.drain(LEAD_IN_SECONDS)
            meters = [CpuMeter(pid) for pid in (self.worker.pid, self._bed.broker.pid)]
            began, first = time.monotonic(), _now()
            arrived = self._received(seconds, meters)
            took, end = time.monotonic() - began, _now()
            arrived += self._rest(first, end)
        cpu, broker_cpu = (meter.seconds / took * 60 for meter in meters)
        late = self._late(arrived, first, end)
        self.samples.append(Sample(late, cpu, broker_cpu, memory_bytes(self.worker.pid)))
        return self.samples[-1].percentile(0.5)

    def drain(self, seconds: float) -> None:
        """Take what arrives for so long, and measure nothing."""
        self._received(seconds)

    def cost(self) -> str:
        """What it took, for people."""
        cpu, broker_cpu = (
            median([getattr(each, name) for each in self.samples]) for name in ("cpu", "broker_cpu")
        )
        memory = max(each.memory for each in self.samples)
        return (
            f"{cpu:.1f} CPU seconds per minute, {memory / 1e6:,.0f} MB; the broker meanwhile "
            f"{broker_cpu:.1f} CPU seconds per minute."
        )

    def details(self) -> dict[str, object]:
        """Everything of each round, for programs."""
        return {
            "size": self.size,
            "rounds": [
                {
                    "p50_ms": each.percentile(0.5),
                    "p95_ms": each.percentile(0.95),
                    "p50_ms_of_each": each.middles,
                    "cpu_seconds_per_minute": each.cpu,
                    "broker_cpu_seconds_per_minute": each.broker_cpu,
                    "memory_bytes": each.memory,
                }
                for each in self.samples
            ],
        }

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Every connector gets a record a second, one after the other."""
        done = threading.Event()

        def flow() -> None:
            turn, began = 0, time.monotonic()
            while not done.wait(max(0.0, began + turn / self.size - time.monotonic())):
                record = (turn % self.size, _now())
                self._pending.add(record)
                self._feed(*record)
                turn += 1

        feeder = threading.Thread(target=flow, name="trickle")
        feeder.start()
        try:
            yield
        finally:
            done.set()
            feeder.join()
            self._fed()

    def _received(
        self, seconds: float, meters: list[CpuMeter] | None = None
    ) -> list[tuple[Record, float]]:
        """What arrives for so long, each with how late it was in milliseconds."""
        found: list[tuple[Record, float]] = []
        until, looked = time.monotonic() + seconds, 0.0
        while (now := time.monotonic()) < until:
            found += self._taken()
            if meters and now - looked > LOOK_SECONDS:
                for meter in meters:
                    meter.look()
                looked = now
        for meter in meters or ():
            meter.look()
        return found

    def _taken(self) -> list[tuple[Record, float]]:
        """What has just arrived; what is repeated counts once."""
        found = []
        for record in self._arrived():
            if record in self._pending:
                self._pending.discard(record)
                found.append((record, (_now() - record[1]) / 1000))
        return found

    def _rest(self, first: int, end: int) -> list[tuple[Record, float]]:
        """What was sent between two moments, and arrives while more is sent."""
        found: list[tuple[Record, float]] = []
        until = time.monotonic() + MOST_BEHIND_SECONDS
        while self._waited_for(first, end) and time.monotonic() < until:
            found += self._taken()
        return found

    def _waited_for(self, first: int, end: int) -> list[Record]:
        return [record for record in self._pending.copy() if first <= record[1] < end]

    def _late(
        self, arrived: list[tuple[Record, float]], first: int, end: int
    ) -> dict[int, list[float]]:
        """By connector; what has not arrived yet is as late as it is by now."""
        late: dict[int, list[float]] = defaultdict(list)
        for (number, sent), milliseconds in arrived:
            if first <= sent < end:
                late[number].append(milliseconds)
        for number, sent in self._waited_for(first, end):
            late[number].append((_now() - sent) / 1000)
        return late

    @abstractmethod
    def _add(self, number: int) -> None:
        """Make one more connector."""

    @abstractmethod
    def _feed(self, number: int, sent: int) -> None:
        """Give a connector a record that says when it was sent."""

    @abstractmethod
    def _fed(self) -> None:
        """Nothing more comes for now."""

    @abstractmethod
    def _arrived(self) -> list[Record]:
        """The records that have arrived since; waits a moment for the first."""


def _now() -> int:
    return int(time.time() * MICROSECONDS)


def messages(consumer: Consumer) -> Iterator[Message]:
    """What a consumer has now; waits a moment for the first."""
    for message in consumer.consume(1000, timeout=0.01):
        if (error := message.error()) is None:
            yield message
        elif error.code() != KafkaError._PARTITION_EOF:
            raise RuntimeError(f"reading: {error.str()}")


class SourceTrickle(Trickle):
    """A file for each connector, all into one topic."""

    def __init__(self, bed: Bed, worker: RestWorker) -> None:
        super().__init__(bed, worker)
        self._rest_worker = worker
        self._topic = bed.topic()
        self._consumer = self._topic.reader(at_end=True)
        self._folder = _folder(bed, "sources")
        self._files: list[Path] = []
        self.names: list[str] = []

    def _add(self, number: int) -> None:
        name, file = f"{self._folder.name}-{number}", self._folder / f"{number}.txt"
        file.write_text("")
        self._files.append(file)
        self.names.append(name)
        config = {**SOURCE, "file": str(file), "topic": self._topic.name}
        self._rest_worker.create(name, config)

    def _feed(self, number: int, sent: int) -> None:
        with self._files[number].open("ab", buffering=0) as file:
            file.write(b"%d %d\n" % (number, sent))

    def _fed(self) -> None:
        """All is written."""

    def _arrived(self) -> list[Record]:
        return [_record(message.value() or b"") for message in messages(self._consumer)]


class SinkTrickle(Trickle):
    """A topic and a file for each connector."""

    def __init__(self, bed: Bed, worker: RestWorker) -> None:
        super().__init__(bed, worker)
        self._rest_worker = worker
        self._producer = Producer(
            {"bootstrap.servers": bed.connection.bootstrap_servers, "linger.ms": 0}
        )
        self._folder = _folder(bed, "sinks")
        self._topics: list[str] = []
        self._tails: list[_Tail] = []

    def _add(self, number: int) -> None:
        topic, tail = self._bed.topic().name, _Tail(self._folder / f"{number}.txt")
        self._topics.append(topic)
        self._tails.append(tail)
        config = {**SINK, "topics": topic, "file": str(tail.path)}
        self._rest_worker.create(f"{self._folder.name}-{number}", config)

    def _feed(self, number: int, sent: int) -> None:
        self._producer.produce(self._topics[number], b"%d %d" % (number, sent))
        self._producer.poll(0)

    def _fed(self) -> None:
        self._producer.flush()

    def _arrived(self) -> list[Record]:
        """Looks where something is missing, and not at all files: often, and at little cost."""
        time.sleep(SINK_LOOK_SECONDS)
        awaited = sorted({number for number, _ in self._pending.copy()})
        return [_record(line) for n in awaited for line in self._tails[n].new_lines()]


class _Tail:
    """The lines that a file gets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0

    def new_lines(self) -> list[bytes]:
        if not self.path.exists() or self.path.stat().st_size <= self._read:
            return []
        with self.path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return whole.splitlines()


def _record(line: bytes) -> Record:
    number, sent = line.split()
    return int(number), int(sent)


def _folder(bed: Bed, kind: str) -> Path:
    folder = bed.folder / bed.name(kind)
    folder.mkdir()
    return folder


Make = Callable[[Bed, RestWorker], Trickle]
