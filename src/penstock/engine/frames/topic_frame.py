"""Ranges of topics as a DataFrame: Penstock's own reader, as a data source of Spark's.

Needs no jar. The package must be installed where the executors run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from penstock.engine.frames.errors import FrameError
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range, read_range

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "penstock_ranges"
KAFKA = "kafka."
SERVERS = "bootstrap.servers"
HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
COLUMNS = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
        StructField("headers", ArrayType(HEADER)),
    ]
)
"""As Spark's Kafka source has them, but for ``timestampType``."""


def columns(*, headers: bool) -> StructType:
    """The schema of records."""
    return COLUMNS if headers else StructType(COLUMNS.fields[:-1])


def range_frame(
    spark: SparkSession, connection: Connection, ranges: Iterable[Range], *, headers: bool = True
) -> DataFrame:
    """The committed records of ``ranges``; each of them is read by one task of Spark's.

    The frame has the columns of ``COLUMNS``. However often it is read, it is the same records.
    FrameError if Spark's Python has no Penstock.
    """
    options = {
        **connection_options(connection),
        "ranges": json.dumps([asdict(each) for each in ranges]),
        "headers": str(headers).lower(),
    }
    try:
        spark.dataSource.register(RangeSource)
        return spark.read.format(FORMAT).options(**options).load()
    except PySparkException as error:
        if "No module named 'penstock'" not in str(error):
            raise
        raise FrameError(
            "Penstock is not installed in the Python that Spark uses: set PYSPARK_PYTHON to one "
            f"that has it, here {sys.executable}, before the session starts"
        ) from error


def connection_options(connection: Connection) -> dict[str, str]:
    """How to reach the brokers, as options: under Kafka's names, so that Spark hides secrets."""
    given = {SERVERS: connection.bootstrap_servers, **connection.security}
    return {f"{KAFKA}{key}": value for key, value in given.items()}


def connection_of(options: Mapping[str, str]) -> Connection:
    """What ``connection_options`` has told. KeyError without brokers."""
    given = {k.removeprefix(KAFKA): v for k, v in options.items() if k.startswith(KAFKA)}
    return Connection(given.pop(SERVERS), given)


class RangeSource(DataSource):
    """For ``range_frame`` alone: its options are not for people."""

    @classmethod
    def name(cls) -> str:
        """What Spark calls it."""
        return FORMAT

    def schema(self) -> StructType:
        """The columns of records."""
        return columns(headers=self._headers)

    @property
    def _headers(self) -> bool:
        return self.options["headers"] == "true"

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads the ranges."""
        ranges = [Range(**each) for each in json.loads(self.options["ranges"])]
        return RangesReader(connection_of(self.options), ranges, headers=self._headers)


class RangePartition(InputPartition):
    """One range, for one task."""

    def __init__(self, wanted: Range) -> None:
        super().__init__(wanted)
        self.range = wanted


class RangesReader(DataSourceReader):
    """Reads exact ranges, a task for each. Picklable."""

    def __init__(self, connection: Connection, ranges: Iterable[Range], *, headers: bool) -> None:
        self._connection = connection
        self._ranges = [each for each in ranges if each.count]
        self._headers = headers

    def partitions(self) -> list[InputPartition]:
        """A range each."""
        return [RangePartition(each) for each in self._ranges]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """The records of one range; without ranges, Spark asks for None."""
        if isinstance(partition, RangePartition):
            yield from record_batches(self._connection, partition.range, headers=self._headers)


def record_batches(
    connection: Connection, wanted: Range, *, headers: bool
) -> Iterator[pa.RecordBatch]:
    """The records of a range as Spark takes them."""
    schema = to_arrow_schema(columns(headers=headers))
    for batch in read_range(connection, wanted, headers=headers):
        if batch.num_rows:
            yield pa.RecordBatch.from_arrays(as_columns(batch, schema), schema=schema)


def as_columns(batch: pa.RecordBatch, schema: pa.Schema) -> list[pa.Array]:
    """The columns of a batch in the types that Spark has for them."""
    return [_as(batch.column(field.name), field) for field in schema]


def _as(column: pa.Array, field: pa.Field) -> pa.Array:
    if field.name == "timestamp":
        return column.cast(pa.timestamp("ms", "UTC")).cast(field.type)
    return column.cast(field.type)
