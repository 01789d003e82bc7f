"""Many persistent queries with a record a second each: ours against as many streaming jobs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from confluent_kafka import Producer, TopicPartition

from bench.bed import Bed
from bench.child import Child
from bench.process_tree import processes
from bench.rest_worker import RestWorker
from bench.results import ITSELF, OURS, Figure, RowResult, Target
from bench.rounds import interleaved, median
from bench.row import Row
from bench.sql_requests import run_sql
from bench.streaming import STREAMING, streaming
from bench.topic import Topic
from bench.trickle_rounds import CPU, fewer, figure_of, warmed, window
from bench.trickling import Process, Record, Trickle, messages
from penstock.kafka import clients

COLUMNS = "USERID VARCHAR KEY, PAGEID VARCHAR, VIEWTIME BIGINT, N INT"
SELECT = "SELECT USERID, UCASE(PAGEID) AS PAGE, VIEWTIME + N AS T FROM {} WHERE N <> 0"
SLOWEST, MIDDLE = f"the slowest query of {OURS}", "its middle query"
STARVES = 2.0
LATEST_MS = 3000.0
TEN = 10


@dataclass(frozen=True)
class Job:
    """The process with the queries of Structured Streaming."""

    child: Child
    label: str = STREAMING

    @property
    def pid(self) -> int:
        """The root of its processes."""
        return self.child.process.pid

    def stop(self) -> None:
        """End it."""
        self.child.close()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It does nothing meanwhile: without records, its queries ask for some all the time."""
        tree = processes(self.pid)
        for process in tree:
            process.suspend()
        try:
            yield
        finally:
            for process in tree:
                process.resume()


class QueryTrickle(Trickle):
    """A query for each topic, and a topic for each query's output."""

    def __init__(self, bed: Bed, side: Process, start: Callable[[str, str], None]) -> None:
        super().__init__(bed, side)
        servers = bed.connection.bootstrap_servers
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        self._consumer = clients.reader(bed.connection)
        self._start = start
        self._in, self._out = bed.name("in"), bed.name("out")

    def _add(self, number: int) -> None:
        given, out = (f"{each}-{number}" for each in (self._in, self._out))
        for name in (given, out):
            Topic(self._bed.connection, name)
        self._start(given, out)
        self._consumer.assign([TopicPartition(f"{self._out}-{n}", 0, 0) for n in range(number + 1)])

    def _feed(self, number: int, sent: int) -> None:
        row = {"pageid": "Page_1", "viewtime": sent, "n": 1}
        self._producer.produce(f"{self._in}-{number}", json.dumps(row), b"User_1")
        self._producer.poll(0)

    def _fed(self) -> None:
        self._producer.flush()

    def _arrived(self) -> list[Record]:
        return [
            (
                int(str(message.topic()).rpartition("-")[2]),
                json.loads(message.value() or b"{}")["T"] - 1,
            )
            for message in messages(self._consumer)
        ]


def queries(bed: Bed, count: int, *, before: int = 0) -> RowResult:
    """Each side by itself; the other's queries have nothing to do meanwhile."""
    with ExitStack() as stack:
        worker = stack.enter_context(bed.new_penstock())
        ours = QueryTrickle(bed, worker, partial(_ours, worker))
        first = fewer(bed, ours, before) if before else None
        warmed(bed, {OURS: ours}, count, needed=(OURS,))
        job = Job(stack.enter_context(streaming(bed)))
        theirs = {STREAMING: QueryTrickle(bed, job, partial(_theirs, job.child))}
        sides = {OURS: ours, **warmed(bed, theirs, count, needed=())}
        figures = _sampled(bed, sides, job)
    return RowResult(
        unit="ms, p50",
        sides=figures,
        targets=[Target(STREAMING, at_most=1.0), *_latest(count)],
        also=[
            figure_of(sides, "ms, p95", lambda s: s.percentile(0.95)),
            figure_of(sides, CPU, lambda s: s.cpu, Target(STREAMING, at_most=0.5)),
            *([_evenness(ours)] if count > 1 else []),
            *([first.growth(ours)] if first else []),
        ],
        notes=[
            f"{count} projections with a filter, each with a record a second, until it is there to "
            f"be read. {STREAMING.capitalize()}: as many queries in one Spark with two cores, each "
            "begins its next batch as soon as it can; writes at least once.",
            *(f"{name}: {each.cost()}" for name, each in sides.items()),
            *([first.told()] if first else []),
            *([] if STREAMING in sides else [f"{STREAMING} did not keep up: it was not measured."]),
        ],
        details={name: each.details() for name, each in sides.items()},
    )


def _latest(count: int) -> list[Target]:
    return [Target(ITSELF, at_most=LATEST_MS)] if count <= TEN else []


def _sampled(bed: Bed, sides: dict[str, Trickle], job: Job) -> dict[str, list[float]]:
    """The p50 of each side, round by round."""

    def measure(name: str) -> float:
        if name == STREAMING:
            return sides[name].p50(window(bed))
        with job.frozen():
            return sides[name].p50(window(bed))

    return interleaved(bed.scale.rounds, {name: partial(measure, name) for name in sides}, bed.say)


def _evenness(side: Trickle) -> Figure:
    """Whether a query gets its turn as often as others do."""
    found = {
        SLOWEST: [max(each.middles) for each in side.samples],
        MIDDLE: [median(each.middles) for each in side.samples],
    }
    return Figure("ms, p50", found, [Target(MIDDLE, at_most=STARVES)])


def _ours(worker: RestWorker, source: str, target: str) -> None:
    name = f"S{time.time_ns()}"
    given, out = (f"KAFKA_TOPIC='{topic}'" for topic in (source, target))
    run_sql(
        worker,
        f"CREATE STREAM {name} ({COLUMNS}) WITH ({given}, VALUE_FORMAT='JSON');"
        f"CREATE STREAM O{name} WITH ({out}) AS {SELECT.format(name)} EMIT CHANGES;",
    )


def _theirs(spark: Child, source: str, target: str) -> None:
    spark.ask(f"projection {source} {target}")


ROWS = tuple(
    Row(
        f"queries-{count}",
        f"SQL: {count} quer{'y' if count == 1 else 'ies'} with a trickle",
        partial(queries, count=count, before=before),
    )
    for count, before in ((1, 0), (TEN, 0), (50, TEN))
)
