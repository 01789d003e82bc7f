"""A JDBC source's task, played in the test itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.plugins.databases.jdbc_source import JdbcSourceConnector
from penstock.plugins.databases.jdbc_source_task import JdbcSourceTask
from penstock.sdk import OffsetReader, SourceBatch

Offsets = list[tuple[Mapping[str, Any], Mapping[str, Any]]]


def read_tables(
    config: Mapping[str, str], offsets: Offsets | None = None, polls: int = 20
) -> list[SourceBatch]:
    """What one task polls until it is dry."""
    connector = JdbcSourceConnector()
    connector.start(config)
    task = JdbcSourceTask()
    try:
        (task_config,) = connector.task_configs(1)
        plan = connector.plan(OffsetReader(offsets or []), [0])
        task.start({**task_config, **(plan[0] if plan else {})}, OffsetReader(offsets or []))
        found: list[SourceBatch] = []
        while len(found) < polls and (batch := task.poll()) is not None:
            found.append(batch)
        return found
    finally:
        task.stop()
        connector.stop()


def rows_of(batches: list[SourceBatch]) -> list[Any]:
    """The values, in order."""
    return [row for batch in batches for row in batch.records.column("value").to_pylist()]


def last_offset(batches: list[SourceBatch]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The source partition and offset of the last batch."""
    partition, offset = batches[-1].offsets[-1]
    assert offset is not None
    return partition, offset
