"""Where a table was read to: Confluent's source partitions and offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.sdk.databases import TableId
from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import OffsetReader, SourceOffset, SourcePartition

TABLE: Final = "table"
PROTOCOL: Final = "protocol"
QUERY_PARTITION: Final = {"query": "query"}
PARTITION_KEYS: Final = (PROTOCOL, TABLE, "query", "range")

INCREMENTING: Final = "incrementing"
TIMESTAMP: Final = "timestamp"
NANOS: Final = "timestamp_nanos"
BULK_STARTED: Final = "bulk.started"
BULK_PAGE: Final = "bulk.page"
BULK_DONE: Final = "bulk.done"
RANGE: Final = "range"
RANGE_LOW: Final = "range.low"
RANGE_HIGH: Final = "range.high"
_NUMBERS: Final = (INCREMENTING, TIMESTAMP, NANOS, BULK_STARTED, BULK_PAGE, RANGE_LOW, RANGE_HIGH)


_RANGE_KEYS: Final = {INCREMENTING, RANGE_LOW, RANGE_HIGH}


def table_partition(table: TableId) -> SourcePartition:
    """The source partition of a table."""
    return {PROTOCOL: "1", TABLE: str(table)}


def known_partition(table: TableId, offsets: OffsetReader) -> SourcePartition:
    """The source partition that has an offset: Confluent's may have the database in front."""
    usual = table_partition(table)
    if offsets.get(usual) is not None:
        return usual
    ending = f".{table}"
    named = (p for p, _ in offsets if RANGE not in p)
    others = (p for p in named if str(p.get(TABLE, "")).endswith(ending))
    return next(others, usual)


@dataclass(frozen=True)
class RowOffset:
    """The last row that was read, by its number, its time, or both."""

    incrementing: int | None = None
    micros: int | None = None

    @classmethod
    def of(cls, offset: Mapping[str, Any] | None) -> RowOffset:
        """As stored; nothing if there is none."""
        found = offset or {}
        millis, nanos = found.get(TIMESTAMP), found.get(NANOS)
        if millis is None:
            return cls(found.get(INCREMENTING))
        exact = millis // 1000 * 1_000_000 + nanos // 1000 if nanos is not None else millis * 1000
        return cls(found.get(INCREMENTING), exact)

    def to_json(self) -> SourceOffset:
        """As it is stored."""
        made: dict[str, Any] = {}
        if self.incrementing is not None:
            made[INCREMENTING] = self.incrementing
        if self.micros is not None:
            made[TIMESTAMP] = self.micros // 1000
            made[NANOS] = self.micros % 1_000_000 * 1000
        return made


@dataclass(frozen=True)
class BulkOffset:
    """A pass over a whole table: when it began (milliseconds), and which page is next."""

    started: int = 0
    page: int = 0
    done: bool = True

    @classmethod
    def of(cls, offset: Mapping[str, Any] | None) -> BulkOffset:
        """As stored; without one, as if a pass had ended long ago."""
        if not offset or offset.get(BULK_STARTED) is None:
            return cls()
        done = bool(offset.get(BULK_DONE))
        return cls(offset[BULK_STARTED], offset.get(BULK_PAGE) or 0, done)

    def to_json(self) -> SourceOffset:
        """As it is stored."""
        return {BULK_STARTED: self.started, BULK_PAGE: self.page, BULK_DONE: self.done}


def check_alteration(partition: SourcePartition | None, offset: SourceOffset | None) -> None:
    """Refuse what no task could continue from."""
    known = partition is not None and (partition == QUERY_PARTITION or TABLE in partition)
    if not known:
        raise OffsetError(
            'A source partition must be of the form {"protocol": "1", "table": "schema.table"}, or '
            '{"query": "query"} for a query.'
        )
    for key in _NUMBERS:
        value = (offset or {}).get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise OffsetError(f'"{key}" must be an integer.')
    if offset is not None and RANGE in (partition or {}) and not offset.keys() >= _RANGE_KEYS:
        raise OffsetError(
            f'The offset of a "{RANGE}" of a first load can only be set to what it was, or reset. '
            'To move the table, set the offset of {"protocol": "1", "table": "schema.table"}.'
        )
    if offset is not None and not any(key in offset for key in _NUMBERS):
        raise OffsetError(
            f'An offset must have "{INCREMENTING}", "{TIMESTAMP}" or both, as the mode needs; '
            f"null begins again."
        )
