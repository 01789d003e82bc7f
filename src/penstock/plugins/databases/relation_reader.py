"""Reads one table or query, batch by batch."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from penstock.plugins.databases.first_load import LoadRange
from penstock.plugins.databases.row_records import RowRecords
from penstock.plugins.databases.row_search import RowSearch
from penstock.plugins.databases.sessions import Session
from penstock.plugins.databases.table_offsets import BulkOffset, RowOffset
from penstock.sdk.batches import SourceBatch
from penstock.sdk.databases import Dialect, TableId
from penstock.sdk.offsets import SourcePartition

PAGES_AT_ONCE: Final = 64
"""How many empty stretches of a table are passed over in one poll."""


class RelationReader(ABC):
    """What is common: records of one relation, and the source partition that they belong to."""

    def __init__(self, records: RowRecords, partition: SourcePartition) -> None:
        self.records, self.partition = records, partition

    @abstractmethod
    def waits(self, session: Session) -> bool:
        """Whether there is anything to read."""

    @abstractmethod
    def next(self, session: Session, rows: int) -> SourceBatch | None:
        """About ``rows`` of the next rows, or None when there are none just now."""

    def _batch(self, read: pa.Table, offset: Mapping[str, Any]) -> SourceBatch:
        return SourceBatch(self.records.batch(read), [(self.partition, offset)])

    @property
    def _doing(self) -> str:
        return f"reading {self.records.relation.label}"


class NewRows(RelationReader):
    """The rows behind the last one, by number or time."""

    def __init__(
        self,
        records: RowRecords,
        partition: SourcePartition,
        search: RowSearch,
        offset: RowOffset,
        *,
        unmarked: bool = False,
    ) -> None:
        """``unmarked``: nothing is stored, and later ``offset`` would be another one."""
        super().__init__(records, partition)
        self._search, self._offset, self._unmarked = search, offset, unmarked

    def waits(self, session: Session) -> bool:
        if self._unmarked:
            return True
        sql, parameters = self._search.exists(self._offset)
        return bool(session.query(sql, parameters, doing=self._doing).num_rows)

    def next(self, session: Session, rows: int) -> SourceBatch | None:
        sql, parameters = self._search.rows(self._offset, rows)
        read = session.query(sql, parameters, doing=self._doing)
        if not read.num_rows and self._unmarked:
            self._unmarked = False
            return self._batch(read, self._offset.to_json())
        if not read.num_rows:
            return None
        after = self._search.after(read, self._offset)
        batch = self._batch(read, after.to_json())
        self._offset, self._unmarked = after, False
        return batch


class RangeRows(RelationReader):
    """The rows of one range of a first load; it ends with an offset that says so."""

    def __init__(
        self, records: RowRecords, table: TableId, search: RowSearch, part: LoadRange, at: RowOffset
    ) -> None:
        super().__init__(records, part.partition(table))
        self._search, self._part, self._offset = replace(search, until=part.until), part, at

    def waits(self, session: Session) -> bool:
        return self._offset != RowOffset(self._part.until)

    def next(self, session: Session, rows: int) -> SourceBatch | None:
        if not self.waits(session):
            return None
        sql, parameters = self._search.rows(self._offset, rows)
        read = session.query(sql, parameters, doing=self._doing)
        full = read.num_rows >= rows
        at = self._search.after(read, self._offset) if full else RowOffset(self._part.until)
        batch = self._batch(read, self._part.offset(at))
        self._offset = at
        return batch


class WholeTable(RelationReader):
    """A table in passes, page by page, so that a pass goes on where the last task left it."""

    def __init__(
        self,
        records: RowRecords,
        partition: SourcePartition,
        dialect: Dialect,
        offset: BulkOffset,
        interval_ms: int,
    ) -> None:
        super().__init__(records, partition)
        self._dialect, self._offset, self._interval_ms = dialect, offset, interval_ms
        self._ahead: pa.Table | None = None
        self._next_page, self._pages = offset.page, -1

    def waits(self, session: Session) -> bool:
        if not self._offset.done or self._ahead is not None:
            return True
        due = _now_ms() >= self._offset.started + self._interval_ms
        return due and self._dialect.pages(session, self.records.relation) > 0

    def next(self, session: Session, rows: int) -> SourceBatch | None:
        if self._offset.done and not self._begin(session):
            return None
        if self._pages < 0:
            self._pages = self._dialect.pages(session, self.records.relation)
        found, self._ahead = self._ahead, None
        for _ in range(PAGES_AT_ONCE):
            if found is not None and (self._ahead is not None or self._at_end):
                return self._emit(found)
            if self._at_end:
                self._offset = replace(self._offset, done=True)
                return None
            read = self._read(session, rows)
            if read.num_rows:
                found, self._ahead = (read, None) if found is None else (found, read)
        self._ahead = found
        return None

    def _begin(self, session: Session) -> bool:
        """Begin a pass if it is time, and there is anything in the table."""
        if not self.waits(session):
            return False
        self._offset = BulkOffset(_now_ms(), 0, done=False)
        self._next_page, self._pages = 0, -1
        return True

    @property
    def _at_end(self) -> bool:
        return self._next_page >= self._pages

    def _read(self, session: Session, rows: int) -> pa.Table:
        relation = self.records.relation
        condition, parameters = self._dialect.page(relation, self._next_page, rows)
        self._read_from = self._next_page
        self._next_page += self._dialect.pages_of(rows)
        sql = f"SELECT {relation.selected} FROM {relation.sql} WHERE {condition}"
        return session.query(sql, parameters, doing=self._doing)

    def _emit(self, found: pa.Table) -> SourceBatch:
        """With the offset of what comes next: the rows that were read ahead, or the end."""
        done = self._ahead is None
        page = 0 if done else self._read_from
        self._offset = replace(self._offset, page=page, done=done)
        return self._batch(found, self._offset.to_json())


class WholeResult(RelationReader):
    """A view or a query in passes; a pass that is not finished begins again with the next task."""

    def __init__(
        self, records: RowRecords, partition: SourcePartition, offset: BulkOffset, interval_ms: int
    ) -> None:
        super().__init__(records, partition)
        self._offset, self._interval_ms = offset, interval_ms
        self._read: pa.Table | None = None

    def waits(self, session: Session) -> bool:
        due = _now_ms() >= self._offset.started + self._interval_ms
        if self._read is not None or not (self._offset.done and not due):
            relation = self.records.relation
            sql = f"SELECT 1 AS one FROM {relation.sql} LIMIT 1"
            return bool(session.query(sql, doing=self._doing).num_rows)
        return False

    def next(self, session: Session, rows: int) -> SourceBatch | None:
        if self._read is None and not self._begin(session):
            return None
        assert self._read is not None  # noqa: S101 (begun)
        part, rest = self._read.slice(0, rows), self._read.slice(rows)
        done = rest.num_rows == 0
        self._read = None if done else rest
        self._offset = replace(self._offset, done=done)
        return self._batch(part, self._offset.to_json())

    def _begin(self, session: Session) -> bool:
        if not self.waits(session):
            return False
        relation = self.records.relation
        sql = f"SELECT {relation.selected} FROM {relation.sql}"
        read = session.query(sql, doing=self._doing)
        self._offset = BulkOffset(_now_ms(), 0, done=False)
        self._read = read if read.num_rows else None
        return self._read is not None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
