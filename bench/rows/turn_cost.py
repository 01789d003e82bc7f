"""What a frame turn costs that has next to nothing to do, and what that consists of."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

from confluent_kafka import Producer

from bench.bed import Bed
from bench.child import Child
from bench.results import RowResult
from bench.rounds import interleaved, median
from bench.row import Row
from bench.topic import Topic
from bench.turn_costs import PARTITIONS, record

FEW, MANY = 100, 100_000
"""Records of a turn whose cost is fixed, and of one that takes about a second."""
PART = 3
"""So many fewer turns in a round than there are samples of a latency: they take longer."""


def turn_cost(bed: Bed) -> RowResult:
    """Turns one by one, in a session of their own: no worker plans, none pauses between them."""
    many, count = bed.scale.some(MANY), max(3, bed.scale.active_samples // PART)
    topic, output = bed.topic(PARTITIONS), bed.topic()
    copies = Topic(bed.connection, f"{output.name}-copies")
    _fill(bed, topic, many)
    folder = bed.folder / bed.name("turns")
    folder.mkdir(parents=True)
    servers = bed.connection.bootstrap_servers
    jars = map(str, bed.jars.spark)
    bed.say("warming up turns")
    given = (str(folder), servers, topic.name, output.name)
    with Child("bench.turn_costs", *given, *jars) as child:

        def of(kind: str, records: int) -> float:
            return median([float(child.ask(f"{kind} {records}")) for _ in range(count)])

        figures = interleaved(
            bed.scale.rounds,
            {
                f"small, {FEW} records": partial(of, "small", FEW),
                f"large, {FEW} records": partial(of, "large", FEW),
                f"large, {many:,} records": partial(of, "large", many),
                f"into files, {FEW} records": partial(of, "files", FEW),
            },
            bed.say,
        )
        parts = {
            f"{kind}, {records:,} records": _parts(child, kind, records, count)
            for kind, records in (("small", FEW), ("large", FEW), ("large", many))
        }
    for each in (topic, output, copies):
        each.delete()
    return RowResult(
        unit="ms a turn",
        sides=figures,
        notes=[
            f"JSON in and out, projected and filtered, from {PARTITIONS} partitions, one turn at a "
            "time. The parts were timed one by one, those of a large turn each by itself, where "
            "Spark has several of them going at once: they need not add up.",
            *(f"{name}: {_told(each)}." for name, each in parts.items()),
        ],
        details={"parts": parts},
    )


def _fill(bed: Bed, topic: Topic, records: int) -> None:
    producer = Producer({"bootstrap.servers": bed.connection.bootstrap_servers, "linger.ms": 50})
    for number in range(max(records, FEW)):
        producer.produce(topic.name, record(number), partition=number % PARTITIONS)
        if number % 1000 == 0:
            producer.poll(0)
    if left := producer.flush(60):
        raise RuntimeError(f"{left} records were not taken")


def _parts(child: Child, kind: str, records: int, samples: int) -> dict[str, float]:
    found = [json.loads(child.ask(f"parts of {kind} {records}")) for _ in range(samples)]
    return {part: median([each[part] for each in found]) for part in found[0]}


def _told(parts: dict[str, float]) -> str:
    told: Iterable[str] = (f"{part} {took:,.0f} ms" for part, took in parts.items())
    return ", ".join(told)


ROWS = (Row("frame-turn-cost", "A frame turn by itself, and its parts", turn_cost),)
