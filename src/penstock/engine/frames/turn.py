"""One turn of a Spark sink: ranges of topics into files of one of Spark's formats, exactly once.

What is to come: the runner that plans turns, stores each plan before it runs, runs it here, and
commits ``plan.ends`` when this returns. It must call ``run_turn`` with the plan that is stored
until those offsets are committed (``ranges.verdict``): a plan with other ranges that overlap would
be another turn. Formats without files (jdbc, delta, iceberg) and dead letters are to come, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from penstock.engine.frames.decoding import UNREADABLE, Decoding, decoded
from penstock.engine.frames.errors import DecodingError, FrameError, WriteError
from penstock.engine.frames.formats import refuse_unless_installed
from penstock.engine.frames.places import places
from penstock.engine.frames.ranges import TurnPlan
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Read = Callable[["SparkSession", Sequence[Range]], "DataFrame"]
"""The committed records of ranges, with the columns of ``topic_frame.COLUMNS``."""


@dataclass(frozen=True)
class SparkSink:
    """What a turn writes. Where it writes is in its plan."""

    format: str = "parquet"
    decoding: Decoding = field(default_factory=Decoding)
    select: tuple[str, ...] = ("*",)
    """Expressions of Spark SQL over the decoded record, such as ``value.*``."""
    options: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()


class Outcome(Enum):
    """How a turn ended. In both cases its offsets are to be committed."""

    WRITTEN = auto()
    HAPPENED_BEFORE = auto()


def run_turn(
    spark: SparkSession, plan: TurnPlan, sink: SparkSink, read: Read, *, worker_epoch: int
) -> Outcome:
    """Write the records of ``plan`` below its target, unless that was done before.

    May be called again with the same plan, by any worker, after whatever has happened: the records
    are there once. ``worker_epoch`` is greater than that of every worker before. FrameError if it
    cannot be done; nothing of the turn is in place then.
    """
    target = places(spark, plan.target)
    if target.happened(plan.id):
        return Outcome.HAPPENED_BEFORE
    refuse_unless_installed(spark, sink.format)
    with _described(spark, plan), _explained(plan.target):
        frame = decoded(read(spark, plan.ranges), sink.decoding).selectExpr(*sink.select)
        aside = target.staging(plan.id, worker_epoch)
        writer = frame.write.format(sink.format).options(**sink.options)
        writer.partitionBy(*sink.partition_by).save(aside)
    put = target.put(plan.id, worker_epoch)
    return Outcome.WRITTEN if put else Outcome.HAPPENED_BEFORE


def by_own_reader(connection: Connection) -> Read:
    """Penstock's reader: needs no jar."""

    def read(spark: SparkSession, ranges: Sequence[Range]) -> DataFrame:
        from penstock.engine.frames.topic_frame import range_frame

        return range_frame(spark, connection, ranges)

    return read


def by_kafka_source(settings: Mapping[str, str]) -> Read:
    """Spark's Kafka source, with settings of Java's clients. No record passes through Python."""
    options = {f"kafka.{key}": value for key, value in settings.items()}

    def read(spark: SparkSession, ranges: Sequence[Range]) -> DataFrame:
        topics = sorted({r.topic for r in ranges})
        assign = {t: [r.partition for r in ranges if r.topic == t] for t in topics}
        reader = spark.read.format("kafka").options(
            **{"kafka.isolation.level": "read_committed", **options},
            assign=json.dumps(assign),
            startingOffsets=_offsets(ranges, "start"),
            endingOffsets=_offsets(ranges, "stop"),
            includeHeaders="true",
            failOnDataLoss="true",
        )
        return reader.load().drop("timestampType")

    return read


def _offsets(ranges: Sequence[Range], edge: str) -> str:
    told: dict[str, dict[str, int]] = {}
    for each in ranges:
        told.setdefault(each.topic, {})[str(each.partition)] = getattr(each, edge)
    return json.dumps(told)


@contextmanager
def _described(spark: SparkSession, plan: TurnPlan) -> Iterator[None]:
    """Spark's UI shows what a job is for."""
    context = spark.sparkContext
    context.setJobDescription(f"turn {plan.id}: {', '.join(map(str, plan.ranges))[:500]}")
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


@contextmanager
def _explained(target: str) -> Iterator[None]:
    """Errors of Spark's, in a sentence."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except FrameError:
        raise
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        if found := re.search(rf"{UNREADABLE} \S+ at offset \d+", text):
            raise DecodingError(f"{found[0]}: it is not the JSON that was planned") from error
        raise WriteError(f"{target} was not written: {_first_line(text)}") from error


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "Spark gave no reason")
