"""How soon new lines are where they belong: ours against Structured Streaming."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from confluent_kafka import Producer

from bench.bed import Bed
from bench.child import Child
from bench.results import OURS, Figure
from bench.rounds import interleaved, percentile
from bench.streaming import STREAMING
from bench.tails import LINE, LINES, LONGEST_SECONDS, Tail, receive
from bench.topic import Topic
from penstock.client.waiting import wait_until

UNIT = "ms until visible, p50"
TRIGGER = "Structured Streaming has its quickest trigger: the next batch as soon as the last ended."
PART = 3
"""So many fewer samples in a round than the row of latencies takes."""
PAUSE, JITTER = 0.45, 0.4
LOOK_SECONDS = 0.005

Latency = Callable[[], float]
"""Milliseconds of one sample."""


def files_to_topic(bed: Bed, spark: Child) -> Figure:
    """Lines of files."""
    with Tail(bed, bed.penstock) as ours, _watched_folder(bed, spark) as theirs:
        return _figure(bed, ours.latency_milliseconds, theirs)


def topic_to_files(bed: Bed, spark: Child) -> Figure:
    """Records into files."""
    with _into_file(bed) as ours, _into_folder(bed, spark) as theirs:
        return _figure(bed, ours, theirs)


def bytes_in(folder: Path) -> int:
    """Of files that are in their places: before that their names begin with a dot or underscore."""
    return sum(file.stat().st_size for file in folder.glob("part-*"))


def _figure(bed: Bed, ours: Latency, theirs: Latency) -> Figure:
    sides = {OURS: ours, STREAMING: theirs}
    count = max(3, bed.scale.active_samples // PART)
    for side, latency in sides.items():
        bed.say(f"warm-up of {side}: {_middle(latency, count):,.4g} ms")
    measures = {side: partial(_middle, latency, count) for side, latency in sides.items()}
    return Figure(UNIT, interleaved(bed.scale.rounds, measures, bed.say))


def _middle(latency: Latency, count: int) -> float:
    samples = []
    for _ in range(count):
        time.sleep(PAUSE + random.uniform(-JITTER, JITTER))  # noqa: S311 - nothing secret about it
        samples.append(latency())
    return percentile(samples, 0.5)


@contextmanager
def _watched_folder(bed: Bed, spark: Child) -> Iterator[Latency]:
    """A job that reads a folder's new files: each is there at once, and whole."""
    topic, folder = bed.topic(), bed.folder / bed.name("dropped")
    folder.mkdir()
    consumer = topic.reader(at_end=True)

    def latency() -> float:
        part = bed.folder / bed.name("drop")
        part.write_bytes(LINE * LINES)
        began = time.perf_counter()
        part.rename(folder / part.name)
        receive(consumer, began, spark.check)
        return (time.perf_counter() - began) * 1000

    spark.ask(f"files {folder} {topic.name}")
    try:
        yield latency
    finally:
        spark.ask("stop")
        consumer.close()
        topic.delete()


@contextmanager
def _into_file(bed: Bed) -> Iterator[Latency]:
    """Our sink."""
    topic, name = bed.topic(), bed.name("tail-sink")
    target = bed.folder / f"{name}.txt"
    kind = {"connector.class": "FileStreamSink", "tasks.max": "1"}
    bed.penstock.create(name, {**kind, "topics": topic.name, "file": str(target)})
    with ExitStack() as stack:
        stack.callback(topic.delete)
        stack.callback(bed.penstock.delete, name)
        yield _until_written(bed, topic, partial(_size, target), lambda: None)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


@contextmanager
def _into_folder(bed: Bed, spark: Child) -> Iterator[Latency]:
    """A job that writes text files."""
    topic, folder = bed.topic(), bed.folder / bed.name("texts")
    spark.ask(f"texts {topic.name} {folder}")
    with ExitStack() as stack:
        stack.callback(topic.delete)
        stack.callback(spark.ask, "stop")
        yield _until_written(bed, topic, partial(bytes_in, folder), spark.check)


def _until_written(
    bed: Bed, topic: Topic, size: Callable[[], int], check: Callable[[], None]
) -> Latency:
    producer = Producer({"bootstrap.servers": bed.connection.bootstrap_servers, "linger.ms": 0})
    wanted = 0

    def there() -> bool:
        check()
        return size() >= wanted

    def latency() -> float:
        nonlocal wanted
        wanted += len(LINE) * LINES
        began = time.perf_counter()
        for _ in range(LINES):
            producer.produce(topic.name, LINE.rstrip())
        producer.flush()
        wait_until(there, f"all lines of {topic.name}", LONGEST_SECONDS, LOOK_SECONDS)
        return (time.perf_counter() - began) * 1000

    return latency
