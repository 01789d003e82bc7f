"""Records one by one, for connectors that do not build Arrow batches themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.sdk.offsets import SourceOffset, SourcePartition
from penstock.sdk.schema import Schema


@dataclass(frozen=True, init=False)
class SourceRecord:
    """One record of a source, and the source's offset once it is delivered.

    Without a schema, a value is any JSON-like Python object.
    """

    source_partition: SourcePartition
    source_offset: SourceOffset
    topic: str
    value: Any
    value_schema: Schema | None = None
    key: Any = None
    key_schema: Schema | None = None
    kafka_partition: int | None = None
    timestamp: int | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()

    # The one that a frozen dataclass would have sets field by field, and takes ten times as long.
    def __init__(  # noqa: PLR0917 (these are the fields in their order)
        self,
        source_partition: SourcePartition,
        source_offset: SourceOffset,
        topic: str,
        value: Any,
        value_schema: Schema | None = None,
        key: Any = None,
        key_schema: Schema | None = None,
        kafka_partition: int | None = None,
        timestamp: int | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        self.__dict__.update(
            source_partition=source_partition,
            source_offset=source_offset,
            topic=topic,
            value=value,
            value_schema=value_schema,
            key=key,
            key_schema=key_schema,
            kafka_partition=kafka_partition,
            timestamp=timestamp,
            headers=headers,
        )
