"""Writes records into tables, and with them how far it has come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.databases.database_errors import is_drivers
from penstock.plugins.databases.kept_offsets import (
    OWN,
    KeptOffsets,
    Rival,
    claim,
    is_own,
)
from penstock.plugins.databases.row_writer import RowWriter
from penstock.plugins.databases.sink_settings import SinkSettings
from penstock.plugins.databases.write_session import WriteSession
from penstock.sdk.errors import PenstockError, RecordError, RetriableError, TakenOver
from penstock.sdk.tasks import Assignment, Assignments, Flushed, PartitionId, SinkTask


class JdbcSinkTask(SinkTask):
    """Exactly once: rows and offsets are in the same transactions of the database.

    A transaction lasts from the first ``put`` to the next ``flush``. What is lost with the
    connection is read again: the task then ends as one that was taken over.
    """

    connect_class: ClassVar[str] = "io.confluent.connect.jdbc.sink.JdbcSinkTask"
    wants_headers = False
    wants_timestamps = False

    def start(self, config: Mapping[str, str]) -> None:
        self._settings = SinkSettings.of(config)
        self._session = WriteSession(self._settings.database)
        self._writer = RowWriter(self._settings, self._session)
        table, connector = self._settings.offsets_table, self._settings.connector
        self._kept = KeptOffsets(self._session, table, connector)
        self._next: dict[PartitionId, int] = {}
        self._moves: dict[PartitionId, tuple[int, int]] = {}

    def open(self, assignments: Assignments) -> None:
        self._epoch = assignments.epoch
        self._unmarked: dict[PartitionId, str] = {}
        self._marking: dict[PartitionId, str] = {}
        self._rivals: dict[PartitionId, tuple[int, Rival]] = {}
        with self._guarded("taking its partitions"):
            self._session.begin()
            self._kept.create()
            for each in assignments:
                self._take(each)
            self._session.commit()

    def _take(self, each: Assignment) -> None:
        position = each.topic, each.partition
        taken = self._kept.take(position, each.offset, each.metadata, self._epoch)
        self._next[position] = taken.next
        if taken.rival is not None:
            # Kafka commits a text of this lease only if no later one has begun.
            self._rivals[position] = taken.next, taken.rival
            self._unmarked[position] = claim(self._epoch)
        elif not is_own(each.metadata):
            self._unmarked[position] = OWN

    def put(self, batch: pa.RecordBatch) -> None:
        position = self.position_of(batch)
        fresh, first = self._fresh(batch, self._next[position])
        if not fresh.num_rows:
            return
        with self._guarded("writing rows", again=True):
            self._session.begin()
            try:
                self._writer.write(fresh, position)
            except PenstockError as error:
                _shift(error, first)
                raise
        start, _ = self._moves.get(position, (self._next[position], 0))
        self._next[position] = fresh.column("offset")[-1].as_py() + 1
        self._moves[position] = start, self._next[position]

    def flush(self) -> Flushed:
        marked, self._marking = self._marking, {}
        for position in marked:
            del self._unmarked[position]
        # The text of a partition without new records may not be committed.
        self._marking = {p: text for p, text in self._unmarked.items() if p in self._moves}
        if self._marking:
            # First the mark is committed: without it, an offset that the database is ahead of
            # would look as if it had been set back.
            return Flushed(dict(self._unmarked), {})
        claimed = [position for position in self._moves if position in self._rivals]
        with self._guarded("committing"):
            for position in claimed:
                self._kept.claim(position, *self._rivals[position], self._epoch)
            self._kept.move(self._moves, self._epoch)
            self._session.commit()
        for position in claimed:
            del self._rivals[position]
        self._moves = {}
        return Flushed({**self._unmarked, **dict.fromkeys(claimed, OWN)})

    def stop(self) -> None:
        if hasattr(self, "_session"):
            self._session.close()

    @staticmethod
    def _fresh(batch: pa.RecordBatch, start: int) -> tuple[pa.RecordBatch, int]:
        """The records that are not in the database yet, and the row of the first of them."""
        old = pc.sum(pc.less(batch.column("offset"), start)).as_py() or 0
        return batch.slice(old), old

    @contextmanager
    def _guarded(self, doing: str, *, again: bool = False) -> Iterator[None]:
        """A lost connection takes the transaction with it: what was in it must be read again.

        ``again``: as long as the connection is there, the same call may be repeated.
        """
        try:
            yield
        except Exception as error:
            if not is_drivers(error) and not isinstance(error, RetriableError):
                raise
            told = self._session.translated(error, doing) if is_drivers(error) else error
            if not isinstance(told, RetriableError) or (again and self._session.alive()):
                raise told from None
            raise TakenOver(f"{told}. What was not committed is read again") from None


def _shift(error: PenstockError, first: int) -> None:
    """Rows are counted from the start of the batch that was put."""
    if isinstance(error, RecordError):
        error.row += first
