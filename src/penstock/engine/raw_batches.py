"""What Spark's Kafka source hands over, and its cut into topic-partitions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from penstock.sdk.batches import HEADERS

SELECT = (
    "key",
    "value",
    "topic",
    "partition",
    "offset",
    "unix_millis(timestamp) AS timestamp",
)
"""The Spark SQL expressions that give the columns below, but for the headers."""


def by_partition(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Runs of one topic-partition each, in the layout of ``penstock.sdk.batches``."""
    for start, stop in _runs(batch):
        part = batch.slice(start, stop - start)
        yield pa.RecordBatch.from_arrays(
            [
                part.column("topic"),
                part.column("partition"),
                part.column("key"),
                part.column("value"),
                part.column("timestamp"),
                _headers(part),
                part.column("offset"),
            ],
            names=["topic", "partition", "key", "value", "timestamp", "headers", "offset"],
        )


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[int, int]]:
    rows = batch.num_rows
    if not rows:
        return
    topics = batch.column("topic").dictionary_encode().indices.to_numpy()
    partitions = batch.column("partition").to_numpy()
    changed = (np.diff(topics) != 0) | (np.diff(partitions) != 0)
    starts = [0, *(np.flatnonzero(changed) + 1).tolist()]
    yield from zip(starts, [*starts[1:], rows], strict=True)


def _headers(part: pa.RecordBatch) -> pa.Array:
    if "headers" not in part.schema.names:
        return pa.nulls(part.num_rows, HEADERS)
    return part.column("headers").cast(HEADERS)
