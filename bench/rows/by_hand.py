"""Files and topics: ours against the Structured Streaming job that one would write instead."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds

from bench import by_hand_latency, sql_data
from bench.bed import Bed
from bench.child import Child
from bench.deliveries import LONGEST_SECONDS, POLL_SECONDS, WrongContents, deliver
from bench.line_files import LineFile
from bench.moves import Job, by_worker, one_connector_per_file
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.rows.topic_to_file import copied
from bench.rows.topic_to_file import filled as filled_with
from bench.streaming import STREAMING, streaming
from bench.tails import LINES
from bench.topic import Topic
from penstock.client.waiting import raise_if_failed, wait_until

SPARK_SOURCE = "SparkSource"
PART = 2
"""So much fewer rows than lines of a file: they are JSON."""
T = TypeVar("T")
Figures = dict[str, list[float]]
Sides: TypeAlias = Mapping[str, Callable[[T], float]]


@dataclass(frozen=True)
class Filled:
    """A topic, and how many rows it has."""

    topic: Topic
    rows: int


def files_to_topic(bed: Bed) -> RowResult:
    """The lines of one file."""
    small, large = bed.lines(bed.scale.warm_up_lines), bed.lines(bed.scale.lines)
    with streaming(bed) as spark:

        def ours(lines: LineFile) -> float:
            job = Job([lines])
            configs = one_connector_per_file(job, {})
            return by_worker(bed, bed.penstock, configs, job, committed=True).records_per_second

        sides: Sides[LineFile] = {
            OURS: ours,
            SPARK_SOURCE: partial(_read_by_spark, bed),
            STREAMING: partial(_streamed, bed, spark),
        }
        figures = _measured(bed, sides, small, large)
        late = by_hand_latency.files_to_topic(bed, spark)
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(STREAMING, at_least=1.0)],
        also=[late],
        notes=[
            "One task, one file. Ours is exactly once, and goes on with lines that are appended; "
            "Structured Streaming writes Kafka at least once, and takes whole files only.",
            f"{SPARK_SOURCE} is our SparkSource: Spark reads the file, exactly once as well.",
            f"Latency: of {LINES} lines that are appended to the file, or put into "
            f"the folder as a new one. {by_hand_latency.TRIGGER}",
        ],
    )


def _read_by_spark(bed: Bed, lines: LineFile) -> float:
    job = Job([lines])
    config = {"connector.class": "SparkSource", "format": "text", "path": str(lines.path)}
    return by_worker(bed, bed.penstock, [config], job, committed=True).records_per_second


def _streamed(bed: Bed, spark: Child, lines: LineFile) -> float:
    folder = bed.folder / bed.name("texts")
    folder.mkdir()
    (folder / "lines.txt").symlink_to(lines.path)
    topic, expected = bed.topic(), Job([lines]).expected()

    def start() -> float:
        spark.ask(f"files {folder} {topic.name}")
        return time.perf_counter()

    try:
        return deliver(topic, expected, start, spark.check, committed=False).records_per_second
    finally:
        spark.ask("stop")
        topic.delete()


def topic_to_files(bed: Bed) -> RowResult:
    """A topic of lines into text files."""
    small, large = bed.lines(bed.scale.warm_up_lines), bed.lines(bed.scale.lines)
    topics = {lines: filled_with(bed, lines) for lines in (small, large)}
    with streaming(bed) as spark:

        def ours(lines: LineFile) -> float:
            return copied(bed, bed.penstock, topics[lines], lines, {})

        def theirs(lines: LineFile) -> float:
            return _saved(bed, spark, topics[lines], lines)

        sides: Sides[LineFile] = {OURS: ours, STREAMING: theirs}
        figures = _measured(bed, sides, small, large)
        late = by_hand_latency.topic_to_files(bed, spark)
    for topic in topics.values():
        topic.delete()
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(STREAMING, at_least=1.0)],
        also=[late],
        notes=[
            "One partition. Both are exactly once: ours in one file, theirs in many.",
            f"Latency: of {LINES} new records, until all are in files. {by_hand_latency.TRIGGER}",
        ],
    )


def _saved(bed: Bed, spark: Child, topic: Topic, lines: LineFile) -> float:
    """Lines per second until files with all of them are in their places."""
    folder, size = bed.folder / bed.name("texts"), lines.path.stat().st_size

    def full() -> float | None:
        spark.check()
        return time.perf_counter() if by_hand_latency.bytes_in(folder) >= size else None

    try:
        spark.ask(f"texts {topic.name} {folder}")
        started = time.perf_counter()
        ended = wait_until(full, f"all files of {folder.name}", LONGEST_SECONDS, POLL_SECONDS)
        return lines.lines / (ended - started)
    finally:
        spark.ask("stop")


def topic_to_parquet(bed: Bed) -> RowResult:
    """JSON with a schema into parquet files: ours is a Spark sink."""
    count = bed.scale.lines // PART

    small, large = (
        Filled(sql_data.filled(bed, sql_data.views(rows, rows)), rows)
        for rows in (max(1000, count // 8), count)
    )
    with streaming(bed) as spark:
        sides: Sides[Filled] = {
            OURS: partial(_sunk, bed),
            STREAMING: partial(_written, bed, spark),
        }
        figures = _measured(bed, sides, small, large)
    for each in (small, large):
        each.topic.delete()
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(STREAMING, at_least=0.9)],
        notes=["Two partitions of JSON. Both are exactly once."],
    )


def _sunk(bed: Bed, filled: Filled) -> float:
    name = bed.name("spark-sink")
    folder = bed.folder / name
    config = {
        "connector.class": "SparkSink",
        "topics": filled.topic.name,
        "path": str(folder),
        "format": "parquet",
        "value.format": "json",
        "value.schema": "pageid STRING, viewtime BIGINT, n INT",
        "select": "key; value.*",
    }
    try:
        started = bed.penstock.create(name, config)
        ended = _all_rows(folder, filled.rows, lambda: raise_if_failed(bed.penstock.client, name))
        return filled.rows / (ended - started)
    finally:
        bed.penstock.delete(name)


def _written(bed: Bed, spark: Child, filled: Filled) -> float:
    folder = bed.folder / bed.name("parquet")
    try:
        spark.ask(f"parquet {filled.topic.name} {folder}")
        started = time.perf_counter()
        return filled.rows / (_all_rows(folder, filled.rows, spark.check) - started)
    finally:
        spark.ask("stop")


def _all_rows(folder: Path, rows: int, check: Callable[[], None]) -> float:
    """When the files had all rows; WrongContents for more."""

    def full() -> float | None:
        check()
        now = time.perf_counter()
        found = _rows_in(folder)
        if found > rows:
            raise WrongContents(f"{folder.name} has {found} rows, and {rows} were sent")
        return now if found == rows else None

    return wait_until(full, f"all rows of {folder.name}", LONGEST_SECONDS, POLL_SECONDS)


def _rows_in(folder: Path) -> int:
    """Structured Streaming writes files in their places: one that is not whole counts nothing."""
    files = [str(f) for f in folder.rglob("part-*.parquet") if "_staging" not in f.parts]
    try:
        return ds.dataset(files).count_rows() if files else 0
    except (pa.ArrowInvalid, FileNotFoundError):
        return 0


def _measured(bed: Bed, sides: Sides[T], small: T, large: T) -> Figures:
    """The figures of each side over ``large``, after a warm-up over ``small``."""
    for name, side in sides.items():
        bed.say(f"warm-up of {name}: {side(small):,.0f}")
    timed = {name: partial(side, large) for name, side in sides.items()}
    return interleaved(bed.scale.rounds, timed, bed.say)


ROWS = (
    Row("spark-files-to-topic", "By hand in Spark: text file to topic", files_to_topic),
    Row("spark-topic-to-files", "By hand in Spark: topic to text files", topic_to_files),
    Row("spark-topic-to-parquet", "By hand in Spark: topic to parquet", topic_to_parquet),
)
