"""Persistent queries: ours against Kafka Streams, and against Structured Streaming by hand."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

from bench import sql_data
from bench.bed import Bed
from bench.connect_jars import ensure_streams_jars
from bench.deliveries import Expected, deliver
from bench.kafka_connect import JVM_OPTIONS
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.sql_requests import query_id, run_sql
from bench.streaming import STREAMING, streaming
from bench.topic import Topic
from penstock.embedded.kafka_command import LOGGING

STREAMS = "kafka streams"
PART = 2
"""So much fewer rows than lines of a file: their JSON is taken apart and put together."""
STREAMS_PROGRAM = Path(__file__).parents[1] / "peers" / "StreamsQuery.java"


End = Callable[[], None]


@dataclass(frozen=True)
class Question:
    """What is asked: in the words of each side, over topics that are filled."""

    kind: str
    topics: tuple[Topic, ...]
    select: str
    expected: Expected

    def order(self, target: str) -> str:
        """A line for one of the peers."""
        return " ".join([self.kind, *(topic.name for topic in self.topics), target])


Start = Callable[[Question, str], End]
"""Starts the query, which writes to a topic of that name; the result ends it."""


def projection(bed: Bed) -> RowResult:
    """A projection with a filter."""
    count = bed.scale.lines // PART

    def question(rows: int) -> Question:
        topic = sql_data.filled(bed, sql_data.views(rows, rows))
        select = "SELECT USERID, UCASE(PAGEID) AS PAGE, VIEWTIME + N AS T FROM {0} WHERE N <> 0"
        return Question(
            "projection", (topic,), select, sql_data.projected(sql_data.views(rows, rows))
        )

    return _compared(bed, question(max(1000, count // 8)), question(count))


def join(bed: Bed) -> RowResult:
    """A stream joined with a table of as many rows."""
    count = bed.scale.lines // PART

    def question(rows: int) -> Question:
        views = sql_data.filled(bed, sql_data.views(rows, rows))
        users = sql_data.filled(bed, sql_data.users(rows))
        select = "SELECT {0}.USERID, PAGEID, NAME, CITY FROM {0} JOIN {1} ON {0}.USERID = {1}.ID"
        made = sql_data.joined(sql_data.views(rows, rows))
        return Question("join", (views, users), select, made)

    return _compared(bed, question(max(1000, count // 8)), question(count))


def _compared(bed: Bed, small: Question, large: Question) -> RowResult:
    with _streams(bed) as streams, streaming(bed) as spark:
        sides: dict[str, Callable[[Question], float]] = {
            OURS: partial(_rate, bed, _ours(bed), True),
            STREAMS: partial(_rate, bed, streams, True),
            STREAMING: partial(_rate, bed, partial(_ordered, spark.ask), False),
        }
        for name, side in sides.items():
            bed.say(f"warm-up of {name}: {side(small):,.0f}")
        figures = interleaved(
            bed.scale.rounds, {n: partial(side, large) for n, side in sides.items()}, bed.say
        )
    for topic in (*small.topics, *large.topics):
        topic.delete()
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(STREAMS, at_least=0.7), Target(STREAMING, at_least=1.0)],
        notes=[
            f"{large.expected.records:,} rows out of two partitions of JSON into JSON, from the "
            "start of the query on. Ours and Kafka Streams (exactly_once_v2, two threads, commits "
            "every second, table in memory) are exactly once, Structured Streaming's writing of "
            "Kafka is at least once."
        ],
    )


def _rate(bed: Bed, start: Start, committed: bool, question: Question) -> float:
    """Rows per second of a query that has just been started."""
    target = bed.topic(sql_data.PARTITIONS)
    ends: list[End] = []

    def started() -> float:
        ends.append(start(question, target.name))
        return time.perf_counter()

    try:
        delivery = deliver(target, question.expected, started, lambda: None, committed=committed)
        return delivery.records_per_second
    finally:
        for end in ends:
            end()
        target.delete()


# The sides.


def _ours(bed: Bed) -> Start:
    """By SQL, over REST."""
    known: dict[str, str] = {}

    def source(topic: Topic, declared: str) -> str:
        if topic.name not in known:
            known[topic.name] = name = f"S{len(known)}"
            kind, columns = declared.split(" ", 1)
            given = f"KAFKA_TOPIC='{topic.name}', VALUE_FORMAT='JSON'"
            run_sql(bed.penstock, f"CREATE {kind} {name} ({columns}) WITH ({given});")
        return known[topic.name]

    def start(question: Question, target: str) -> End:
        declared = (
            "STREAM USERID VARCHAR KEY, PAGEID VARCHAR, VIEWTIME BIGINT, N INT",
            "TABLE ID VARCHAR PRIMARY KEY, NAME VARCHAR, CITY VARCHAR",
        )
        names = [source(*each) for each in zip(question.topics, declared, strict=False)]
        name = f"O{time.time_ns()}"
        select = question.select.format(*names)
        given = f"KAFKA_TOPIC='{target}'"
        made = run_sql(
            bed.penstock, f"CREATE STREAM {name} WITH ({given}) AS {select} EMIT CHANGES;"
        )
        query = query_id(made)
        return lambda: _end(bed, query, name)

    return start


def _end(bed: Bed, query: str, stream: str) -> None:
    run_sql(bed.penstock, f"TERMINATE {query}; DROP STREAM {stream};")


@contextmanager
def _streams(bed: Bed) -> Iterator[Start]:
    """In one Java process, whose code is compiled by the first query."""
    jars = f"{ensure_streams_jars(bed.java, bed.say)}/*:{bed.jars.broker}/*"
    folder = bed.folder / bed.name("streams")
    folder.mkdir()
    command = [str(bed.java.path), *JVM_OPTIONS, *LOGGING, "-cp", jars, str(STREAMS_PROGRAM)]
    threads = str(sql_data.PARTITIONS)
    with (
        (folder / "streams.log").open("wb") as log,
        subprocess.Popen(
            [*command, bed.connection.bootstrap_servers, str(folder), threads],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            _heard(process)
            yield partial(_ordered, lambda line: _told(process, line))
        finally:
            cast("IO[str]", process.stdin).close()


def _told(process: subprocess.Popen[str], line: str) -> None:
    stdin = cast("IO[str]", process.stdin)
    stdin.write(line + "\n")
    stdin.flush()
    _heard(process)


def _heard(process: subprocess.Popen[str]) -> None:
    """Wait for an answer; what else it prints is not one."""
    for line in cast("IO[str]", process.stdout):
        if line.strip() in ("ready", "done"):
            return
    raise RuntimeError(f"kafka streams ended with code {process.wait()}")


def _ordered(ask: Callable[[str], object], question: Question, target: str) -> End:
    ask(question.order(target))

    def end() -> None:
        ask("stop")

    return end


ROWS = (
    Row("sql-projection", "SQL: projection and filter", projection),
    Row("sql-join", "SQL: a stream joined with a table", join),
)
