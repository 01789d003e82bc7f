"""Many persistent queries with a record a second each: ours against as many streaming jobs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from confluent_kafka import Consumer, KafkaError, Producer

from bench.bed import Bed
from bench.child import Child
from bench.rest_worker import RestWorker
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.sql_requests import run_sql
from bench.streaming import STREAMING, streaming
from bench.topic import Topic
from bench.trickling import Trickle

COLUMNS = "USERID VARCHAR KEY, PAGEID VARCHAR, VIEWTIME BIGINT, N INT"
SELECT = "SELECT USERID, UCASE(PAGEID) AS PAGE, VIEWTIME + N AS T FROM {} WHERE N <> 0"


@dataclass(frozen=True)
class Side:
    """A process with queries, as what trickles sees it."""

    label: str
    pid: int


class QueryTrickle(Trickle):
    """A query for each topic, and a topic for each query's output."""

    def __init__(
        self, bed: Bed, side: Side, size: int, start: Callable[[str, str, int], None]
    ) -> None:
        super().__init__(side, size)
        servers = bed.connection.bootstrap_servers
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        self._in, out = bed.name("in"), bed.name("out")
        for number in range(size):
            Topic(bed.connection, f"{self._in}-{number}")
            Topic(bed.connection, f"{out}-{number}")
        self._consumer = _reader(servers, out, size)
        start(self._in, out, size)

    def _feed(self, number: int, line: bytes) -> None:
        row = {"pageid": "Page_1", "viewtime": int(float(line) * 1e6), "n": 1}
        self._producer.produce(f"{self._in}-{number}", json.dumps(row), b"User_1")
        self._producer.poll(0)

    def _arrived(self) -> list[float]:
        sent: list[float] = []
        for message in self._consumer.consume(1000, timeout=0.01):
            if (error := message.error()) is None:
                sent.append((json.loads(message.value() or b"{}")["T"] - 1) / 1e6)
            elif error.code() != KafkaError._PARTITION_EOF:
                raise RuntimeError(f"reading: {error.str()}")
        return sent


def _reader(servers: str, topic: str, count: int) -> Consumer:
    settings = {"bootstrap.servers": servers, "group.id": topic, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    consumer.subscribe([f"{topic}-{number}" for number in range(count)])
    return consumer


def queries(bed: Bed, count: int, *, beside: bool) -> RowResult:
    """Each side by itself; the other's queries have nothing to do meanwhile."""
    with ExitStack() as stack:
        worker = stack.enter_context(bed.new_penstock())
        made = {
            OURS: QueryTrickle(bed, Side(OURS, worker.pid), count, partial(_ours, worker)),
        }
        if beside:
            spark = stack.enter_context(streaming(bed))
            side = Side(STREAMING, spark.process.pid)
            made[STREAMING] = QueryTrickle(bed, side, count, partial(_theirs, spark))
        for name, each in made.items():
            bed.say(f"{name}: waiting until {count} queries run")
            each.warm_up()
        seconds = bed.scale.minute
        figures = interleaved(
            bed.scale.rounds, {n: partial(each.p50, seconds) for n, each in made.items()}, bed.say
        )
    return RowResult(
        unit="ms, p50",
        sides=figures,
        targets=[Target(STREAMING, at_most=1.0)] if beside else [],
        notes=[
            f"{count} projections with a filter, each with a record a second, until it is there to "
            "be read. Goals: at most 3 s with ten queries, and half the CPU of streaming jobs.",
            *(f"{name}: {each.cost()}" for name, each in made.items()),
        ],
        details={name: each.details() for name, each in made.items()},
    )


def _ours(worker: RestWorker, source: str, target: str, count: int) -> None:
    for number in range(count):
        name = f"S{time.time_ns()}"
        topics = (f"KAFKA_TOPIC='{each}-{number}'" for each in (source, target))
        given, out = topics
        run_sql(
            worker,
            f"CREATE STREAM {name} ({COLUMNS}) WITH ({given}, VALUE_FORMAT='JSON');"
            f"CREATE STREAM O{name} WITH ({out}) AS {SELECT.format(name)} EMIT CHANGES;",
        )


def _theirs(spark: Child, source: str, target: str, count: int) -> None:
    spark.ask(f"many {count} {source} {target}")


ROWS = tuple(
    Row(
        f"queries-{count}",
        f"SQL: {count} quer{'y' if count == 1 else 'ies'} with a trickle",
        partial(queries, count=count, beside=beside),
    )
    for count, beside in ((1, True), (10, True), (50, False))
)
