"""Reads tables in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from penstock.plugins.databases import source_config as keys
from penstock.plugins.databases.relation_reader import RelationReader
from penstock.plugins.databases.source_settings import SourceSettings
from penstock.plugins.databases.table_share import TABLES, Work, from_text
from penstock.sdk.batches import SourceBatch, offsets_only
from penstock.sdk.errors import RetriableError, UserError
from penstock.sdk.offsets import ChangedOffset, OffsetReader, canonical
from penstock.sdk.tasks import SourceTask

MOST_ROWS: Final = 20_000
FIRST_ROWS: Final = 2_000


class Turn:
    """One table's place in the round: when it is due, and its reader once it was described."""

    def __init__(self, work: Work | None) -> None:
        self.work = work
        self.merge = None if work is None else work.merge
        self.reader: RelationReader | None = None
        self.due_at = float("-inf")


class JdbcSourceTask(SourceTask):
    """One connection; each table is asked for rows until it has none, then again later."""

    connect_class: ClassVar[str] = "io.confluent.connect.jdbc.source.JdbcSourceTask"

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self._settings = SourceSettings.of(config)
        self._session = self._settings.session()
        self._offsets = {canonical(p): (p, o) for p, o in offsets}
        self._share = config.get(TABLES)
        self._rows_set = keys.BATCH_ROWS in config
        self._row_bytes = 0.0
        self._turns: list[Turn] | None = None

    def poll(self) -> SourceBatch | None:
        if self._turns is None:
            self._turns = [Turn(work) for work in self._works()]
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

    def _works(self) -> list[Work | None]:
        if self._settings.query:
            return [None]
        if self._share is None:
            # The connector could not divide the tables: what is wrong shows here too, or is over.
            self._settings.choice.tables(self._session, self._settings.dialect)
            return []
        return list(from_text(self._share))

    def _next(self, turn: Turn) -> SourceBatch | None:
        """What comes next of a table; one that was altered meanwhile is described again."""
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
        if turn.work is not None and turn.merge is not None:
            merge, turn.merge = turn.merge, None
            return self._merged(merge.changes(turn.work.table))
        if turn.reader is None:
            turn.reader = self._reader(turn.work)
        batch = turn.reader.next(self._session, self._rows())
        if batch is not None:
            for partition, offset in batch.offsets:
                self._offsets[canonical(partition)] = dict(partition), dict(offset or {})
            self._row_bytes = batch.records.nbytes / max(1, batch.records.num_rows)
        return batch

    def _merged(self, changes: Sequence[ChangedOffset]) -> SourceBatch:
        for partition, offset in changes:
            self._offsets.pop(canonical(partition), None)
            if offset is not None:
                self._offsets[canonical(partition)] = dict(partition), dict(offset)
        return offsets_only(changes)

    def _reader(self, work: Work | None) -> RelationReader:
        offsets = OffsetReader(self._offsets.values())
        if work is None:
            return self._settings.query_reader(self._session, offsets)
        if work.part is not None:
            return self._settings.range_reader(self._session, work.table, work.part, offsets)
        return self._settings.table_reader(self._session, work.table, offsets)

    def _rows(self) -> int:
        if self._rows_set:
            return int(self._settings.read[keys.BATCH_ROWS])
        if not self._row_bytes:
            return FIRST_ROWS
        return max(1, min(MOST_ROWS, int(self.batch_bytes / self._row_bytes)))
