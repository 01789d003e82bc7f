"""The ranges of a turn as a DataFrame, in which each task's are one partition of Spark's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import IntegerType, StructField, StructType

from penstock.engine.frames.topic_frame import as_columns, columns
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range, read_ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TASK = "task"
Part = tuple[int, tuple[Range, ...]]
"""A task, and the ranges that it reads."""
Stage = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def task_columns(*, headers: bool) -> StructType:
    """The schema of records that know their task."""
    return StructType([StructField(TASK, IntegerType()), *columns(headers=headers).fields])


def task_frame(
    spark: SparkSession, connection: Connection, parts: Sequence[Part], *, headers: bool
) -> DataFrame:
    """The committed records of each task's ranges; partition n of Spark's is ``parts[n]``.

    A stage and no data source of Spark's: planning one starts a Python process three times.
    """
    count = len(parts)
    numbers = spark.range(0, count, 1, count)
    return numbers.mapInArrow(
        _reading(connection, tuple(parts), headers), task_columns(headers=headers)
    )


def _reading(connection: Connection, parts: Sequence[Part], headers: bool) -> Stage:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from task_batches(connection, [parts[number]], headers=headers)

    return read


def task_batches(
    connection: Connection, parts: Sequence[Part], *, headers: bool
) -> Iterator[pa.RecordBatch]:
    """The records of these tasks' ranges as Spark takes them, read by one client."""
    schema = to_arrow_schema(task_columns(headers=headers))
    tasks = {(r.topic, r.partition): task for task, ranges in parts for r in ranges}
    wanted = [r for _, ranges in parts for r in ranges]
    for batch in read_ranges(connection, wanted, headers=headers):
        if rows := batch.num_rows:
            place = (batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py())
            task = pa.repeat(pa.scalar(tasks[place], pa.int32()), rows)
            arrays = [task, *as_columns(batch, schema.remove(0))]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
