"""Records one by one, for connectors that do not build Arrow batches themselves."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from penstock.sdk.offsets import SourceOffset, SourcePartition
from penstock.sdk.schema import Schema

HeaderValue: TypeAlias = (
    bytes | str | bool | int | float | Decimal | dt.date | dt.time
    | Sequence[Any] | Mapping[Any, Any] | None
)  # fmt: skip
"""Bytes are written as they are, and anything else as SimpleHeaderConverter writes it."""
Headers: TypeAlias = Sequence[tuple[str, HeaderValue]]


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
    headers: Headers = ()

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
        headers: Headers = (),
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
