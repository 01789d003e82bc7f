"""One turn into files of one of Spark's formats, exactly once: written aside, then put in place."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from typing import TYPE_CHECKING

from penstock.engine.frames.errors import FrameError, UnreadableError, WriteError
from penstock.engine.frames.formats import refuse_unless_installed
from penstock.engine.frames.places import COLUMN, places
from penstock.engine.frames.ranges import TurnPlan
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range
from penstock.sdk.frames import FormatEnd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Read = Callable[["SparkSession", Sequence[Range]], "DataFrame"]
"""The committed records of ranges, with the columns of ``topic_frame.COLUMNS``."""


class Outcome(Enum):
    """How a turn ended. Its offsets are to be committed unless it is no longer wanted."""

    WRITTEN = auto()
    HAPPENED_BEFORE = auto()
    NOT_WANTED = auto()


def run_turn(
    spark: SparkSession,
    plan: TurnPlan,
    end: FormatEnd,
    frame: Callable[[], DataFrame],
    *,
    worker_epoch: int,
    confirm: Callable[[], bool] = lambda: True,
) -> Outcome:
    """Write ``frame()``, what is made of the plan's ranges, below the target, unless it is there.

    May be called again with the same plan, by any worker, after whatever has happened: the rows
    are there once. ``worker_epoch`` is greater than that of every worker before; ``confirm`` says
    whether this worker still may put something in place. FrameError if it cannot be done; nothing
    of the turn is in place then.
    """
    target = places(spark, plan.target)
    if target.happened(plan.id):
        return Outcome.HAPPENED_BEFORE
    refuse_unless_installed(spark, end.format)
    try:
        with explained(plan.target):
            aside = target.staging(plan.id, worker_epoch)
            rows = frame()
            _refuse_hidden(rows.columns)
            writer = rows.write.format(end.format).options(**end.options)
            writer.partitionBy(*end.partition_by).save(aside)
        if not confirm():
            return Outcome.NOT_WANTED
        put = target.put(plan.id, worker_epoch)
    except WriteError:
        if not target.happened(plan.id):
            raise
        put = False  # a later worker has put it in its place, and has deleted what was here
    finally:
        target.clear(plan.id, worker_epoch)
    return Outcome.WRITTEN if put else Outcome.HAPPENED_BEFORE


def _refuse_hidden(columns: Sequence[str]) -> None:
    """WriteError for a column in whose place Spark would read the names of turns' folders."""
    if found := next((name for name in columns if name.lower() == COLUMN), None):
        raise WriteError(
            f"column {found} would be hidden by the folders {COLUMN}=...: give it another name"
        )


def append(spark: SparkSession, end: FormatEnd, frame: Callable[[], DataFrame]) -> None:
    """Append ``frame()``, in a format without files. FrameError if that cannot be done: some of it
    may have been written."""
    refuse_unless_installed(spark, end.format)
    with explained(f"format {end.format}"):
        writer = frame().write.format(end.format).options(**end.options).mode("append")
        writer.partitionBy(*end.partition_by).save(end.path or None)


def by_own_reader(connection: Connection) -> Read:
    """Penstock's reader: needs no jar."""

    def read(spark: SparkSession, ranges: Sequence[Range]) -> DataFrame:
        from penstock.engine.frames.topic_frame import range_frame

        return range_frame(spark, connection, ranges)

    return read


def by_kafka_source(settings: Mapping[str, str], *, headers: bool = True) -> Read:
    """Spark's Kafka source, with settings of Java's clients. No record passes through Python."""
    options = {f"kafka.{key}": value for key, value in settings.items()}
    # Executors keep consumers by this name, one name for one set of options.
    name = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:16]

    def read(spark: SparkSession, ranges: Sequence[Range]) -> DataFrame:
        topics = sorted({r.topic for r in ranges})
        assign = {t: [r.partition for r in ranges if r.topic == t] for t in topics}
        reader = spark.read.format("kafka").options(
            **{
                "kafka.isolation.level": "read_committed",
                "kafka.group.id": f"penstock-read-{name}",
                **options,
            },
            assign=json.dumps(assign),
            startingOffsets=_offsets(ranges, "start"),
            endingOffsets=_offsets(ranges, "stop"),
            includeHeaders=str(headers).lower(),
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
def explained(target: str, failed: str = "was not written") -> Iterator[None]:
    """Errors of Spark's, in a sentence."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except FrameError:
        raise
    except (PySparkException, Py4JJavaError) as error:
        reason = _reason(error)
        kind = UnreadableError if reason == UNREADABLE else WriteError
        raise kind(f"{target} {failed}: {reason}") from error


UNREADABLE = "a record cannot be read"
"""What a plan raises for a record that should not have been in it."""
RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*?)(?: SQLSTATE|$)", re.MULTILINE)
"""What ``raise_error`` in a plan says."""


TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*\n)+(\S.*)")
"""What a stage of Python's has raised, behind its traceback."""
REMEDIES = {
    "No suitable driver": "give format.options.driver, the class of the database's driver, and its "
    "jar as spark.jars of the worker"
}
"""What to do about what Java says in a few words."""


def _reason(error: Exception) -> str:
    text = str(error)
    if found := RAISED.search(text) or TRACEBACK.search(text):
        return found[1]
    thrown = getattr(error, "java_exception", None)
    line = _first_line(text if thrown is None else str(thrown.toString()))
    remedies = [remedy for words, remedy in REMEDIES.items() if words in line]
    return ": ".join([line, *remedies])


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "Spark gave no reason")
