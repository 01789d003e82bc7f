"""Records for the Elasticsearch sink, and its task around a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from penstock.plugins.search.elastic_sink_task import ElasticsearchSinkTask
from penstock.sdk import SCHEMALESS, Assignment, Assignments, Schema, record_batch
from penstock.sdk.packing import column

VALUE = Schema.struct({"n": Schema.int32(), "note": Schema.string(optional=True)})


def records(
    *values: Any,
    topic: str = "orders",
    keys: Sequence[Any] | None = None,
    start: int = 0,
    schema: Schema | None = VALUE,
    key_schema: Schema | None = None,
) -> pa.RecordBatch:
    """One partition's records; ``schema`` None: values are texts of JSON."""
    if schema is None:
        array, field = pa.array(values, pa.string()).cast(SCHEMALESS.type), SCHEMALESS
    else:
        array, field = column("value", schema, list(values))
    given = list(keys) if keys is not None else [None] * len(values)
    key, key_field = column("key", key_schema or Schema.string(optional=True), given)
    rows = len(values)
    return record_batch(
        topic,
        array,
        value_field=field,
        key=key,
        key_field=key_field,
        partition=pa.array([0] * rows, pa.int32()),
        offset=pa.array(range(start, start + rows), pa.int64()),
    )


def row(n: int, note: str | None = None) -> dict[str, Any]:
    """A value of ``VALUE``."""
    return {"n": n, "note": note}


@contextmanager
def sink(config: Mapping[str, str], topic: str = "orders") -> Iterator[ElasticsearchSinkTask]:
    """A task with one partition."""
    task = ElasticsearchSinkTask()
    try:
        task.start(config)
        task.open(Assignments([Assignment(topic, 0, 0, "")]))
        yield task
    finally:
        task.stop()
