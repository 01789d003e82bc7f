"""Frame turns one by one, and the parts that they consist of, in a session with our own settings.

    python -m bench.turn_costs <folder> <brokers> <topic> <output> [jar ...]

Says that it is ready once warm. Then answers "small", "large" or "files" and a number of records
with the milliseconds of one more such turn; "parts of small" or "parts of large" and a number with
those of each part, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from bench.empty_spark_job import answer, same
from penstock.columnar.plain_converters import StringConverter
from penstock.embedded import find_java
from penstock.engine.carriers.asking import Answerer
from penstock.engine.carriers.hub import Hub
from penstock.engine.carriers.orders import decode_report_as, encode_report
from penstock.engine.driver.session import LazySession, SparkSettings
from penstock.engine.frames.format_turn import FormatOrder, FormatTurn
from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.kafka_turn import KafkaTurn
from penstock.engine.frames.output_columns import output_columns
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.shuffles import refuse_moves
from penstock.engine.frames.small_turn import produce_small, small_records
from penstock.engine.frames.task_frame import task_frame
from penstock.engine.frames.task_output import run_task
from penstock.engine.frames.turn_order import TurnOrder, TurnOutcome
from penstock.engine.frames.turn_records import Reading
from penstock.engine.lease.lease import End, Limits, Membership
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range
from penstock.kafka.transactions import Transactions
from penstock.sdk.frames import FormatEnd, FrameTask, FrameTurn
from penstock.sdk.tasks import Assignment

PARTITIONS = 2
WARM_UP_TURNS = 15
SCHEMA = "id BIGINT, name STRING"
Parts = dict[str, float]


def record(number: int) -> bytes:
    """What the topic holds."""
    return json.dumps({"id": number, "name": f"name of {number}"}).encode()


class Turns:
    """Turns of one connector over the beginning of its topic, again and again."""

    def __init__(self, session: LazySession, servers: str, topic: str, output: str) -> None:
        self._spark = session.get()
        self._folder = session.settings.data_dir / "out"
        self._connection = Connection(servers)
        self._topic, self._output = topic, output
        self._numbers = count(1)
        self._last: dict[str, str] = {}
        self._answerer = Answerer(Hub("127.0.0.1"), "", lambda: True)

    def small(self, records: int) -> float:
        """A turn through the worker."""
        return self._kafka(records, small=True)

    def large(self, records: int) -> float:
        """A turn as a Spark job."""
        return self._kafka(records, small=False)

    def _kafka(self, records: int, *, small: bool) -> float:
        leases = self._leases("small" if small else "large", records)
        order = TurnOrder("costs", leases, self._build, headers=False, small=small, check=False)
        turn = KafkaTurn(
            self._spark,
            order,
            confirm=self._answerer.confirms,
            question=self._answerer.question,
            encode=encode_report,
            decode=lambda message: decode_report_as(FrameReport, message),
        )
        return _timed(turn.run, small=small)

    def files(self, records: int) -> float:
        """A turn into files of Parquet."""
        ranges = tuple(self._range(p, records) for p in range(PARTITIONS))
        lease = self._lease("files", 0, ranges)
        plan = TurnPlan(time.time_ns() // 1000, lease.ranges, str(self._folder), "config")
        end = FormatEnd("parquet", plan.target)
        text = "CAST(value AS STRING) AS value"
        reading = Reading(
            lambda records, _: records, lambda records, _: records.selectExpr(text), headers=False
        )
        order = FormatOrder(lease, end, plan, stored=False, config="config", reading=reading)
        return _timed(FormatTurn(self._spark, order, lambda: True).run, small=False)

    def parts_of_small(self, records: int) -> Parts:
        """What a small turn does, step by step."""
        leases, parts = self._leases("small", records), Watch()
        ranges = [(lease.task, lease.ranges) for lease in leases]
        read = parts("reading", lambda: small_records(self._connection, ranges, headers=False))

        def planned() -> Any:
            frame = output_columns(self._build(self._spark.createDataFrame(read), _told()))
            frame._jdf.queryExecution().executedPlan()
            return frame

        frame = parts("planning", planned)
        rows = parts("running the plan", frame.toArrow)
        parts("producing and committing", lambda: produce_small(rows, leases, lambda: True))
        return parts.told

    def parts_of_large(self, records: int) -> Parts:
        """What a large turn does; but for its plan, each part by itself and without the others."""
        leases, parts = self._leases("empty", records), Watch()
        ranges = [(lease.task, lease.ranges) for lease in leases]

        def planned() -> None:
            frame = task_frame(self._spark, self._connection, ranges, headers=False)
            made = output_columns(self._build(frame, _told()))
            refuse_moves(made)
            made.mapInArrow(same, made.schema)._jdf.queryExecution().toRdd()

        def one_hop() -> Any:
            return self._spark.range(0, PARTITIONS, 1, PARTITIONS).mapInArrow(same, "id long")

        def two_hops() -> Any:
            return one_hop().selectExpr("id + 1 AS id").mapInArrow(same, "id long")

        parts("planning", planned)
        parts("a job with a Python stage that does nothing", lambda: one_hop().collect())
        parts("a job with two of them, as a turn's has", lambda: two_hops().collect())
        one = ranges[:1]
        parts("reading", lambda: small_records(self._connection, one, headers=False))
        parts("a new producer and an empty commit", lambda: self._empty_commit(leases[0]))
        return parts.told

    def _empty_commit(self, lease: FrameLease) -> None:
        def acquire(lease: FrameLease) -> Transactions:
            return Transactions(lease.connection, lease.transactional_id)

        run_task(lease, (), lambda: True, acquire=acquire)

    def _build(self, records: Any, turn: FrameTurn) -> Any:
        """JSON in and out, projected and filtered."""
        read = f"from_json(CAST(value AS STRING), '{SCHEMA}') AS r"
        rows = records.selectExpr("task", "key", read).where("r.id >= 0")
        value = "to_json(struct(r.id + 1 AS id, upper(r.name) AS name)) AS value"
        return rows.selectExpr("task", f"'{self._output}' AS topic", "key", value)

    def _leases(self, kind: str, records: int) -> tuple[FrameLease, ...]:
        return tuple(self._lease(kind, p, (self._range(p, records),)) for p in range(PARTITIONS))

    def _range(self, partition: int, records: int) -> Range:
        return Range(self._topic, partition, 0, records // PARTITIONS)

    def _lease(self, kind: str, task: int, ranges: tuple[Range, ...]) -> FrameLease:
        """Each kind has producers of its own, which are kept, or not, as the kind does."""
        connection, id_, number = self._connection, f"costs-{kind}-{task}", next(self._numbers)
        previous, self._last[id_] = self._last.get(id_), str(number)
        return FrameLease(
            lease_id=str(number),
            previous=previous,
            connector="costs",
            task=task,
            config={},
            pipeline=Recipe((StringConverter, {}), (StringConverter, {})),
            connection=connection,
            transactional_id=id_,
            membership=Membership(clients.group_metadata(connection, "costs"), self._topic),
            limits=Limits(),
            secrets=(),
            producer_settings={},
            task_class=FrameTask,
            group="connect-costs",
            group_metadata=clients.group_metadata(connection, "connect-costs"),
            assignments=tuple(Assignment(r.topic, r.partition, r.start, "") for r in ranges),
            copy_topic=f"{self._output}-copies",
            ranges=ranges,
        )


class Watch:
    """Times the parts of a turn."""

    def __init__(self) -> None:
        self.told: Parts = {}

    def __call__(self, name: str, part: Callable[[], Any]) -> Any:
        """The part's result; its milliseconds are in ``told``."""
        began = time.perf_counter()
        result = part()
        self.told[name] = (time.perf_counter() - began) * 1000
        return result


def _told() -> FrameTurn:
    return FrameTurn("costs", ())


def _timed(run: Callable[[], TurnOutcome], *, small: bool) -> float:
    """Milliseconds; RuntimeError if it was not committed, or went the other way."""
    began = time.perf_counter()
    outcome = run()
    took = (time.perf_counter() - began) * 1000
    bad = [report for report in outcome.reports if report.end is not End.DONE]
    if bad or not outcome.reports or outcome.small is not small:
        raise RuntimeError(f"the turn went wrong: {outcome}")
    return took


def main(folder: str, servers: str, topic: str, output: str, *jars: str) -> None:
    """Serve until the end of standard input."""
    settings = SparkSettings(
        Path(folder), jars=[Path(jar) for jar in jars], java_home=find_java().home
    )
    session = LazySession(settings)
    try:
        turns = Turns(session, servers, topic, output)
        for _ in range(WARM_UP_TURNS):
            for kind in ("small", "large", "files", "parts of small", "parts of large"):
                asked(turns, kind, 100)
        answer("ready")
        for line in sys.stdin:
            kind, _, records = line.strip().rpartition(" ")
            answer(json.dumps(asked(turns, kind, int(records))))
    finally:
        session.stop()


def asked(turns: Turns, kind: str, records: int) -> float | Parts:
    """One more turn, or its parts."""
    what: Callable[[int], float | Parts] = getattr(turns, kind.replace(" ", "_"))
    return what(records)


if __name__ == "__main__":
    main(*sys.argv[1:])
