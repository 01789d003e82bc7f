"""Topic to file: ours against Kafka Connect's FileStreamSink."""

from __future__ import annotations

import filecmp
import time
from functools import partial
from pathlib import Path

from bench.bed import Bed
from bench.child import Child
from bench.deliveries import LONGEST_SECONDS, POLL_SECONDS, WrongContents
from bench.line_files import LineFile
from bench.rest_worker import RestWorker
from bench.results import CONNECT, OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.topic import Topic
from bench.variants import SINK_VARIANTS, Config, best
from penstock.client.waiting import raise_if_failed, wait_until

CHECK_EVERY = 50


def topic_to_file(bed: Bed) -> RowResult:
    """The same topic into a file each."""
    small, large = bed.lines(bed.scale.warm_up_lines), bed.lines(bed.scale.lines)
    small_topic, large_topic = filled(bed, small), filled(bed, large)
    for topic, lines in ((small_topic, small), (small_topic, small), (large_topic, large)):
        rate = copied(bed, bed.penstock, topic, lines, {})
        bed.say(f"warm-up of penstock, {lines.lines:,} records: {rate:,.0f}")
    trial = partial(copied, bed, bed.kafka_connect, small_topic, small)
    chosen, trials = best(SINK_VARIANTS, trial, bed.say)
    figures = interleaved(
        bed.scale.rounds,
        {
            OURS: lambda: copied(bed, bed.penstock, large_topic, large, {}),
            CONNECT: lambda: copied(bed, bed.kafka_connect, large_topic, large, chosen.config),
        },
        bed.say,
    )
    for topic in (small_topic, large_topic):
        topic.delete()
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(CONNECT, at_least=3.0)],
        notes=[f"Ours is exactly once. Kafka Connect's, with {chosen.name}, is at least once."],
        details={"kafka_connect_trials": trials},
    )


ROWS = (Row("topic-to-file", "Topic to file, one task", topic_to_file),)


def filled(bed: Bed, lines: LineFile) -> Topic:
    """A topic that holds the lines, in one partition."""
    topic = bed.topic()
    bed.say(f"filling a topic with {lines.lines:,} records")
    brokers = bed.connection.bootstrap_servers
    with Child("bench.bare_loop", brokers, topic.name, str(lines.path)) as child:
        child.tell("go")
        child.process.wait(LONGEST_SECONDS)
        child.check()
    return topic


def copied(bed: Bed, worker: RestWorker, topic: Topic, lines: LineFile, more: Config) -> float:
    """Let a sink write the topic to a new file; records per second, from the request's answer."""
    name = bed.name("sink")
    target = bed.folder / f"{name}.txt"
    config = {
        "connector.class": "FileStreamSink",
        "tasks.max": "1",
        "topics": topic.name,
        "file": str(target),
        **more,
    }
    try:
        started = worker.create(name, config)
        ended = _full(worker, name, target, lines)
        if not filecmp.cmp(target, lines.path, shallow=False):
            raise WrongContents(f"the file that {worker.label} wrote differs from what was sent")
        return lines.lines / (ended - started)
    finally:
        worker.delete(name)
        target.unlink(missing_ok=True)


def _full(worker: RestWorker, name: str, target: Path, lines: LineFile) -> float:
    wanted = lines.path.stat().st_size
    looks = 0

    def full() -> float | None:
        nonlocal looks
        looks += 1
        if looks % CHECK_EVERY == 0:
            raise_if_failed(worker.client, name)
        present = target.stat().st_size if target.exists() else 0
        return time.perf_counter() if present >= wanted else None

    return wait_until(full, f"all lines in the file of {name}", LONGEST_SECONDS, POLL_SECONDS)
