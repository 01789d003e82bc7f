"""Reads tables in turn."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import ClassVar, Final

from penstock.plugins.databases import source_config as keys
from penstock.plugins.databases.columns import TableId
from penstock.plugins.databases.relation_reader import RelationReader
from penstock.plugins.databases.sessions import Session
from penstock.plugins.databases.source_settings import SourceSettings
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import RetriableError, UserError
from penstock.sdk.offsets import OffsetReader, canonical
from penstock.sdk.tasks import SourceTask

TABLES: Final = "penstock.tables"
"""The key, in a task's configuration, of its share of the tables."""
MOST_ROWS: Final = 20_000
FIRST_ROWS: Final = 2_000


class Turn:
    """One table's place in the round: when it is due, and its reader once it was described."""

    def __init__(self, table: TableId | None) -> None:
        self.table = table
        self.reader: RelationReader | None = None
        self.due_at = float("-inf")


class JdbcSourceTask(SourceTask):
    """One connection; each table is asked for rows until it has none, then again later."""

    connect_class: ClassVar[str] = "io.confluent.connect.jdbc.source.JdbcSourceTask"

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self._settings = SourceSettings.of(config)
        self._session = Session(self._settings.database)
        self._offsets = {canonical(p): (p, o) for p, o in offsets}
        self._share = config.get(TABLES)
        self._rows_set = keys.BATCH_ROWS in config
        self._row_bytes = 0.0
        self._turns: list[Turn] | None = None

    def poll(self) -> SourceBatch | None:
        if self._turns is None:
            self._turns = [Turn(table) for table in self._tables()]
        now = time.monotonic()
        for turn in [turn for turn in self._turns if turn.due_at <= now]:
            batch = self._next(turn)
            if batch is not None:
                self._turns.append(self._turns.pop(self._turns.index(turn)))
                return batch
            turn.due_at = time.monotonic() + self._settings.interval
        return None

    def stop(self) -> None:
        if hasattr(self, "_session"):
            self._session.close()

    def _tables(self) -> list[TableId | None]:
        if self._settings.query:
            return [None]
        if self._share is not None:
            return [TableId(schema, name) for schema, name in json.loads(self._share)]
        return list(self._settings.choice.tables(self._session, self._settings.dialect))

    def _next(self, turn: Turn) -> SourceBatch | None:
        """What comes next of a table; one that was altered meanwhile is described anew."""
        known = turn.reader is not None
        try:
            return self._read(turn)
        except RetriableError:
            raise
        except UserError:
            turn.reader = None
            if not known:
                raise
            return self._read(turn)

    def _read(self, turn: Turn) -> SourceBatch | None:
        if turn.reader is None:
            turn.reader = self._reader(turn.table)
        batch = turn.reader.next(self._session, self._rows())
        if batch is not None:
            for partition, offset in batch.offsets:
                self._offsets[canonical(partition)] = dict(partition), dict(offset or {})
            self._row_bytes = batch.records.nbytes / max(1, batch.records.num_rows)
        return batch

    def _reader(self, table: TableId | None) -> RelationReader:
        offsets = OffsetReader(self._offsets.values())
        if table is None:
            return self._settings.query_reader(self._session, offsets)
        return self._settings.table_reader(self._session, table, offsets)

    def _rows(self) -> int:
        if self._rows_set:
            return int(self._settings.read[keys.BATCH_ROWS])
        if not self._row_bytes:
            return FIRST_ROWS
        return max(1, min(MOST_ROWS, int(self.batch_bytes / self._row_bytes)))
