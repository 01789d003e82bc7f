"""A JDBC sink's task, played in the test itself, and records for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from penstock.plugins.databases.jdbc_sink_task import JdbcSinkTask
from penstock.plugins.databases.kept_offsets import OWN
from penstock.sdk import Assignment, Assignments, Schema, TopicPartition, record_batch
from penstock.sdk.packing import column
from tables import Tables

VALUE = Schema.struct(
    {"id": Schema.int32(), "note": Schema.string(optional=True), "n": Schema.int16(optional=True)}
)


def config(tables: Tables, **more: str) -> dict[str, str]:
    return {
        **tables.config(**more),
        "name": "sink",
        "table.name.format": f"{tables.schema}.${{topic}}",
        "offsets.table": f"{tables.schema}.offsets",
    }


ORDERS = TopicPartition("orders", 0)
UPSERT = {"insert_mode": "upsert", "pk_mode": "record_value", "pk_fields": "id"}


def records(
    *values: Any, start: int = 0, schema: Schema = VALUE, keys: list[Any] | None = None
) -> pa.RecordBatch:
    value, field = column("value", schema, list(values))
    key, key_field = column("key", Schema.int32(), keys or [None] * len(values))
    offsets = pa.array(range(start, start + len(values)), pa.int64())
    partition = pa.array([0] * len(values), pa.int32())
    return record_batch("orders", value, value_field=field, key=key, key_field=key_field,
                        partition=partition, offset=offsets)  # fmt: skip


def row(number: int, note: str | None = None, n: int | None = None) -> dict[str, Any]:
    return {"id": number, "note": note, "n": n}


@contextmanager
def sink(
    config: Mapping[str, str], offset: int = 0, metadata: str = OWN, epoch: int = 1
) -> Iterator[JdbcSinkTask]:
    task = JdbcSinkTask()
    try:
        task.start(config)
        task.open(Assignments([Assignment("orders", 0, offset, metadata)], None, epoch))
        yield task
    finally:
        task.stop()


def written(config: Mapping[str, str], *batches: pa.RecordBatch) -> None:
    with sink(config) as task:
        for batch in batches:
            task.put(batch)
        task.flush()


def kept(tables: Tables) -> int:
    return int(tables.run("SELECT next FROM offsets")[0][0])
