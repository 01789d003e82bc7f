"""Writes rows, and finds the one that cannot be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.databases.database_errors import passes, shown, state_of
from penstock.plugins.databases.merging import keys_are_exact, statements
from penstock.plugins.databases.sink_settings import SinkSettings
from penstock.plugins.databases.target_table import TargetTables
from penstock.plugins.databases.write_session import Step, WriteSession
from penstock.plugins.databases.written_rows import DELETED, Rows, last_of_each, placed, rows_of
from penstock.sdk.errors import RecordError, TakenOver
from penstock.sdk.tasks import PartitionId

_CHANGED = ("42703", "42P01")
"""A column or table was dropped since it was looked up."""
_OF_A_ROW = ("22", "23", "42804", "44000", "54000", "P0001")
"""SQLSTATEs that speak of a row: of its data, of a constraint, of a view's condition, of what an
index takes, or from a trigger."""
_IN_EACH_OTHERS_WAY: Final = "40"
"""The class of deadlocks. What this transaction has locked before would be in the way again, so
that it has to be given up as a whole."""


class RowWriter:
    """Within the transaction of its session."""

    def __init__(self, settings: SinkSettings, session: WriteSession) -> None:
        self._settings, self._session = settings, session
        self.tables = TargetTables(settings, session)

    def write(self, batch: pa.RecordBatch, position: PartitionId) -> None:
        """All of it or nothing; ``RecordError`` names the first row that cannot be written."""
        parts = list(self._by_table(batch))
        if len(parts) == 1:
            self._write(*parts[0][:2], position)
            return
        with self._session.all_or_nothing():
            for table, part, rows in parts:
                try:
                    self._write(table, part, position)
                except RecordError as error:
                    error.row = int(rows[error.row])
                    raise

    def _by_table(
        self, batch: pa.RecordBatch
    ) -> Iterator[tuple[str, pa.RecordBatch, Sequence[int]]]:
        """The rows of each table, and which they are: a transform may have given each a topic."""
        topics = batch.column("topic").cast(pa.string())
        tables = {topic: self._settings.table(topic) for topic in pc.unique(topics).to_pylist()}
        names = list(dict.fromkeys(tables.values()))
        if len(names) == 1:
            yield names[0], batch, range(batch.num_rows)
            return
        for name in names:
            its = pa.array([topic for topic, table in tables.items() if table == name])
            rows = pc.indices_nonzero(pc.is_in(topics, its))
            yield name, batch.take(rows), rows.to_pylist()

    def _write(self, table: str, batch: pa.RecordBatch, position: PartitionId) -> None:
        rows = rows_of(self._settings, batch, position)
        if rows.only_deletes and not self.tables.exists(table):
            return
        error = self._attempt(table, rows, rows.data.num_rows)
        if error is not None and self._is_other_now(table, error):
            error = self._attempt(table, rows, rows.data.num_rows)
        if error is not None:
            raise self._blamed(table, rows, error)

    def _is_other_now(self, table: str, error: BaseException) -> bool:
        """Whether the table was altered since it was looked up: then no row is to blame yet."""
        return self.tables.look_again(table) or state_of(error) in _CHANGED

    def _attempt(
        self, table: str, rows: Rows, count: int, *, keep: bool = True
    ) -> BaseException | None:
        """Write the first ``count`` rows; an insert with deletions in it, stretch by stretch."""
        types = self.tables.columns(table, rows)
        mode = self._settings.insert_mode
        steps = []
        for part in self._parts(rows, types, count):
            flags = part.column(DELETED)
            deleting, writing = pc.any(flags).as_py(), not pc.all(flags).as_py()
            made = statements(mode, table, rows, types, deleting=deleting, writing=writing)
            steps.append(Step(made, part if deleting else part.drop_columns(DELETED)))
        return self._session.attempt(*steps, keep=keep)

    def _parts(self, rows: Rows, types: Mapping[str, str], count: int) -> Iterator[pa.Table]:
        """What is copied at a time: all rows that are merged, or a stretch of an insert."""
        data = rows.data.slice(0, count)
        if self._settings.insert_mode != "insert":
            exact = keys_are_exact(rows, types)
            yield last_of_each(data if exact else placed(data), rows.keys)
        elif self._settings.delete:
            yield from _stretches(data)
        else:
            yield data

    def _blamed(self, table: str, rows: Rows, error: BaseException) -> Exception:
        """``RecordError`` if the error is one row's: the last of the shortest part that fails."""
        good, bad = 0, rows.data.num_rows
        while _of_a_row(error) and bad - good > 1:
            middle = (good + bad) // 2
            found = self._attempt(table, rows, middle, keep=False)
            if found is None:
                good = middle
            else:
                bad, error = middle, found
        if state_of(error).startswith(_IN_EACH_OTHERS_WAY):
            told = self._session.translated(error, f"writing to table {table}")
            return TakenOver(f"{told}. What was not committed is read again")
        if not _of_a_row(error):
            return self._session.translated(error, f"writing to table {table}")
        text = f"PostgreSQL refused the record for table {table}: "
        return RecordError(text + shown(self._session.database, error), row=bad - 1)


def _of_a_row(error: BaseException) -> bool:
    return state_of(error).startswith(_OF_A_ROW) and not passes(error)


def _stretches(data: pa.Table) -> Iterator[pa.Table]:
    """Neighbours that all delete, or all do not."""
    flags = data.column(DELETED).to_pylist()
    start = 0
    for place in range(1, len(flags) + 1):
        if place == len(flags) or flags[place] != flags[start]:
            yield data.slice(start, place - start)
            start = place
