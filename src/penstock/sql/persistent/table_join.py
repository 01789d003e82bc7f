"""The stage of a join: finds the row of the table for each record of the stream."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import pyarrow as pa

from penstock.kafka.errors import BrokerUnavailable
from penstock.sql.errors import StatementError
from penstock.sql.persistent.added_columns import with_columns
from penstock.sql.persistent.table_reading import JoinedTable, TableTopic
from penstock.sql.persistent.table_store import TableRow, TableStore
from penstock.sql.planning.turn_text import JOIN_KEY, TABLE_COLUMNS, TIME

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNUSED_SECONDS = 7 * 24 * 3600
"""A table that no query has used for so long is deleted; it would be rebuilt."""


@dataclass(frozen=True)
class Lookup:
    """What the stage does; travels to the executors."""

    topic: TableTopic
    store: str
    """The folder of the query's tables, below that of all."""
    ends: Mapping[int, int]
    """Where the table's partitions end in this turn."""
    drained: frozenset[int]
    """Partitions of the stream that this turn reads to their ends."""
    by_key: bool
    bootstrap: bool
    root: str = ""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Add the table's columns to each batch."""
        tables = _Tables(self)
        for batch in batches:
            yield tables.joined(batch)
        tables.finish()

    def table(self, partition: int) -> JoinedTable:
        """The table as a partition of the stream sees it: of its own partition, or all of it."""
        if self.by_key and partition not in self.ends:
            raise self._without(partition)
        ends = {partition: self.ends[partition]} if self.by_key else dict(self.ends)
        store = opened(store_root(self.root) / self.store / str(partition))
        table = JoinedTable(store, self.topic, ends, self.bootstrap)
        table.prepare()
        return table

    def _without(self, partition: int) -> Exception:
        if partition < max(self.ends):
            return BrokerUnavailable(f"the end of {self.topic.topic}-{partition} is not known")
        return StatementError(
            f"The stream has a partition {partition}, but the table in topic {self.topic.topic} "
            f"has {len(self.ends)}: both must have as many."
        )


@dataclass
class _Tables:
    """The tables of one task, each made when its first record comes."""

    lookup: Lookup
    _tables: dict[int, JoinedTable] = field(default_factory=dict)

    def joined(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        partitions = batch.column("partition").to_pylist()
        times = batch.column(TIME).to_pylist()
        keys = batch.column(JOIN_KEY).to_pylist()
        rows: list[TableRow | None] = [None] * len(partitions)
        for partition in set(partitions):
            places = [n for n, each in enumerate(partitions) if each == partition]
            found = self._table(partition).found(
                [times[n] or 0 for n in places], [keys[n] for n in places]
            )
            for place, row in zip(places, found, strict=True):
                rows[place] = row
        return _with_rows(batch, rows)

    def _table(self, partition: int) -> JoinedTable:
        if partition not in self._tables:
            self._tables[partition] = self.lookup.table(partition)
        return self._tables[partition]

    def finish(self) -> None:
        for partition, table in self._tables.items():
            if partition in self.lookup.drained:
                table.finish()


def _with_rows(batch: pa.RecordBatch, rows: list[TableRow | None]) -> pa.RecordBatch:
    added = [
        pa.array([row and row.key for row in rows], pa.binary()),
        pa.array([row and row.value for row in rows], pa.binary()),
        pa.array([None if row is None else row.partition for row in rows], pa.int32()),
        pa.array([None if row is None else row.offset for row in rows], pa.int64()),
        pa.array([None if row is None else row.time * 1000 for row in rows], pa.int64()).cast(
            pa.timestamp("us", "UTC")
        ),
    ]
    names = [*batch.schema.names, *(name for name, _ in TABLE_COLUMNS.values())]
    return pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)


def with_table(frame: DataFrame, lookup: Lookup) -> DataFrame:
    """``frame`` with the columns of the table's record, which are NULL where there is none."""
    return with_columns(frame, lookup, dict(TABLE_COLUMNS.values()))


# Where tables are, in this process.

_open: dict[Path, TableStore] = {}


def store_root(given: str) -> Path:
    """The folder of all tables of this user on this machine."""
    return Path(given) if given else Path(platformdirs.user_cache_dir("penstock")) / "tables"


def opened(folder: Path) -> TableStore:
    """The store there; a process has each open once, as LMDB demands."""
    store = _open.get(folder)
    if store is not None and store.is_there:
        os.utime(folder / "data.mdb")
        return store
    if store is not None:
        store.close()
    else:
        _sweep(folder.parent.parent)
    _open[folder] = TableStore(folder)
    return _open[folder]


def _sweep(root: Path) -> None:
    """Delete what has not been used for a long time."""
    for data in root.glob("*/*/data.mdb") if root.is_dir() else ():
        try:
            unused = time.time() - data.stat().st_mtime > UNUSED_SECONDS
        except OSError:
            continue
        if unused:
            shutil.rmtree(data.parent, ignore_errors=True)
