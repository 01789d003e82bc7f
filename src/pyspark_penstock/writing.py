"""A batch into topics: what a task of Spark's writes is one transaction, all of it or nothing.

Tasks commit one by one, so a job that fails may have written some tasks' records. A task that is
tried again has the transactional id of the first try, which it fences: no half of it is ever
visible. Only where a try was committed and Spark did not hear of it is it written twice.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import (
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from penstock.consumers.topic import find_topic
from penstock.engine.frames.topic_frame import COLUMNS
from penstock.engine.frames.whole_input import refuse_cut_input
from penstock.engine.lease.producing import produce
from penstock.engine.pipeline.pipeline import Encoded
from penstock.kafka.clients import TRANSACTION_TIMEOUT_MS
from penstock.kafka.errors import KafkaFault
from penstock.kafka.transactions import Transactions
from penstock.sdk.batches import HEADERS, record_batch
from pyspark_penstock.options import OptionError, WritingOptions
from pyspark_penstock.topics import admin_of

PREFIX = "penstock-write-"
SECONDS = TRANSACTION_TIMEOUT_MS / 1000 - 10
"""The brokers abort a transaction that is open for longer than its timeout."""
TAKEN: dict[str, tuple[type[DataType], ...]] = {
    "key": (BinaryType, StringType),
    "value": (BinaryType, StringType),
    "topic": (StringType,),
    "partition": (IntegerType,),
    "timestamp": (TimestampType, LongType),
}
"""The columns of records, and what they may be; ``headers`` is as it is read."""


@dataclass
class Written(WriterCommitMessage):
    """What one task has committed."""

    records: int


class TopicsWriter(DataSourceArrowWriter):
    """Writes batches of records into topics that exist. Picklable."""

    def __init__(self, options: WritingOptions, schema: StructType) -> None:
        """OptionError if the columns are no records; NoSuchTopic."""
        _refuse_misfits(schema, options.topic)
        if options.topic is not None:
            find_topic(admin_of(options.connection), options.topic)
        self._options = options
        self._id = f"{PREFIX}{uuid.uuid4().hex}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """All of a task's records in one transaction; nothing is made where there are none."""
        producer: Transactions | None = None
        began, count = time.monotonic(), 0
        try:
            for batch in iterator:
                if batch.num_rows:
                    producer = producer or self._producer()
                    count += produce(producer, self._encoded(batch)).records
                    _refuse_if_late(began)
            refuse_cut_input()
            if producer is not None:
                producer.drain()
                producer.commit((), ())
        except BaseException:
            if producer is not None:
                producer.abort()
            raise
        return Written(count)

    def _producer(self) -> Transactions:
        """Fences an earlier try of the same task."""
        context = TaskContext.get()
        task = context.partitionId() if context else 0
        return Transactions(self._options.connection, f"{self._id}-{task}")

    def _encoded(self, batch: pa.RecordBatch) -> Encoded:
        names = set(batch.schema.names)
        value = _binary(batch.column("value"))
        key = _binary(batch.column("key")) if "key" in names else pa.nulls(len(value), pa.binary())
        records = record_batch(
            self._topic(batch),
            value,
            key=key,
            partition=batch.column("partition") if "partition" in names else None,
            timestamp=_milliseconds(batch.column("timestamp")) if "timestamp" in names else None,
            headers=batch.column("headers").cast(HEADERS) if "headers" in names else None,
        )
        return Encoded(records, key, value)

    def _topic(self, batch: pa.RecordBatch) -> str | pa.Array:
        if self._options.topic is not None:
            return self._options.topic
        column = batch.column("topic")
        if column.null_count:
            raise OptionError('a record has no topic: fill the column, or give option "topic"')
        return column.dictionary_encode()

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Every task has committed its own."""

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """What other tasks have committed stays; the error of the job says so."""


def _refuse_misfits(schema: StructType, topic: str | None) -> None:
    names = schema.names
    if "value" not in names:
        raise OptionError(
            "records need a column value, binary or string: for example "
            'frame.selectExpr("to_json(struct(*)) AS value")'
        )
    if topic is None and "topic" not in names:
        raise OptionError('give option "topic", or a column topic')
    if topic is not None and "topic" in names:
        raise OptionError('there is a column topic and an option "topic": drop one of them')
    for field in schema:
        _refuse_misfit(field.name, field.dataType)


def _refuse_misfit(name: str, kind: DataType) -> None:
    if name == "headers":
        fits = kind.simpleString() == COLUMNS["headers"].dataType.simpleString()
    elif name in TAKEN:
        fits = isinstance(kind, TAKEN[name])
    else:
        raise OptionError(f"records have no column {name}: they have {', '.join(TAKEN)}, headers")
    if not fits:
        words = [each().simpleString() for each in TAKEN.get(name, ())]
        allowed = " or ".join(words) or COLUMNS["headers"].dataType.simpleString()
        raise OptionError(f"column {name} is {kind.simpleString()}: it has to be {allowed}")


def _refuse_if_late(began: float) -> None:
    if time.monotonic() - began > SECONDS:
        raise KafkaFault(
            f"a task has written for {SECONDS:.0f} s, longer than a transaction may stay open; it "
            "is rolled back. Give each task less: frame.repartition(n).write..."
        )


def _binary(column: pa.Array) -> pa.Array:
    return column.cast(pa.binary())


def _milliseconds(column: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", column.type.tz), safe=False)
    return column.cast(pa.int64())
