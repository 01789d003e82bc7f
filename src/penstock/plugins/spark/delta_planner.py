"""What a turn reads of a table of Delta's: first the whole as of a version, then what is added."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from penstock.plugins.spark.delta_log import DeltaTable, Version
from penstock.plugins.spark.delta_offsets import DeltaOffset, delta_partition
from penstock.plugins.spark.delta_reading import FILE, DeltaReading
from penstock.plugins.spark.file_frames import explained, own_session
from penstock.plugins.spark.row_records import (
    RowRecords,
    record_frame,
    refuse_unless_one_to_one,
    selected,
)
from penstock.plugins.spark.source_config import (
    FAIL,
    LIST_INTERVAL,
    PATH,
    REREAD,
    SELECT,
    TABLE_CHANGES,
    TOPIC,
    record_columns,
)
from penstock.sdk.errors import UserError
from penstock.sdk.frame_sources import FrameShare, SourceTurn
from penstock.sdk.offsets import SourcePartition
from penstock.sdk.sql_expressions import expressions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_FILES, MOST_BYTES, MOST_VERSIONS = 32, 256 * 1024 * 1024, 200
"""Of a turn."""


@dataclass
class Found:
    """What a turn is to read: files, the offset before each, and the one after them all."""

    snapshot: Any
    """The table as of some version: how its files are read."""
    last: DeltaOffset
    files: list[Any] = field(default_factory=list)
    starts: list[DeltaOffset] = field(default_factory=list)
    size: int = 0

    @property
    def full(self) -> bool:
        """Whether it is enough for a turn."""
        return len(self.files) >= MOST_FILES or self.size >= MOST_BYTES

    def take(self, files: Sequence[Any], start: DeltaOffset, after: DeltaOffset) -> bool:
        """Add the files from ``start`` on; whether all of them fit, so that ``after`` is next."""
        for number in range(start.index, len(files)):
            at = start if number == start.index else replace(start, index=number, rows=0)
            if self.full:
                self.last = at
                return False
            self.files.append(files[number])
            self.starts.append(at)
            self.size += int(files[number].size())
        self.last = after
        return True


class DeltaPlanner:
    """Plans the turns of one connector, whose one task reads one table."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._path = values[PATH]
        self._select = expressions(SELECT, values[SELECT])
        self._columns = record_columns(values)
        self._records = RowRecords(values[TOPIC])
        self._made: tuple[Any, DeltaTable] | None = None
        self._listed: tuple[int, Any] | None = None
        self._due = 0.0

    @property
    def partition(self) -> SourcePartition:
        """The only source partition."""
        return delta_partition(self._path)

    def is_due(self) -> bool:
        """Whether it is time to ask, or more is known to be there."""
        return time.monotonic() >= self._due

    def failed(self, text: str) -> bool:
        """Nothing can be left out of a table."""
        return False

    def turned(self, records: int) -> None:
        """A turn has ended well."""

    def plan(self, spark: Any, turn: SourceTurn) -> list[FrameShare]:
        """The share of the one task; none if there is nothing new."""
        self._due = time.monotonic() + self._values[LIST_INTERVAL] / 1000
        if not turn.tasks:
            return []
        table = self._table(spark)
        latest = table.latest()
        offset = DeltaOffset.of(turn.offsets.get(self.partition))
        start = offset or DeltaOffset(latest, snapshot=True)
        found = self._found(table, start, latest)
        if found is None or (found.last == start and offset is not None):
            return []
        if found.last.version <= latest:
            self._due = 0.0
        reading = DeltaReading(self.partition, tuple(found.starts), found.last, self._records)
        about = f"{len(found.files)} files of {self._path} from version {start.version}"
        frame = self._frame(table, found) if found.files else None
        return [FrameShare(turn.tasks[0], reading, frame, about)]

    def _table(self, spark: Any) -> DeltaTable:
        if self._made is None or self._made[0] is not spark:
            self._made = spark, DeltaTable(spark, own_session(spark), self._path)
            self._listed = None
        return self._made[1]

    def _found(self, table: DeltaTable, start: DeltaOffset, latest: int) -> Found | None:
        if start.version > latest + 1 or (start.snapshot and start.version > latest):
            raise UserError(
                f"The table at {self._path} has version {latest}, and version {start.version} is "
                "to be read: if it was made again, stop the connector, set its offset to null, and "
                "resume it."
            )
        if start.snapshot:
            return self._of_snapshot(table, start)
        return None if start.version > latest else self._of_versions(table, start, latest)

    def _of_snapshot(self, table: DeltaTable, start: DeltaOffset) -> Found:
        snapshot = table.at(start.version)
        if self._listed is None or self._listed[0] != start.version:
            self._listed = start.version, table.files(snapshot)
        found = Found(snapshot, start)
        if found.take(self._listed[1], start, DeltaOffset(start.version + 1)):
            self._listed = None
        return found

    def _of_versions(self, table: DeltaTable, start: DeltaOffset, latest: int) -> Found:
        snapshot = table.at(start.version)
        columns, found = str(snapshot.metadata().schemaString()), Found(snapshot, start)
        most = min(latest, start.version + MOST_VERSIONS - 1)
        for version in table.changes(start.version, most):
            if version.number > start.version and version.columns not in ("", columns):
                break  # its rows make records of another schema: the next turn
            begin = start if version.number == start.version else DeltaOffset(version.number)
            if not found.take(self._wanted(version), begin, DeltaOffset(version.number + 1)):
                break
        return found

    def _wanted(self, version: Version) -> Sequence[Any]:
        """The files of a version to read; UserError if it changes rows and may not."""
        changes = str(self._values[TABLE_CHANGES]).lower()
        if not version.removes or changes == REREAD:
            return version.added
        if changes == FAIL:
            what = f" ({version.operation})" if version.operation else ""
            raise UserError(
                f"Version {version.number} of the table at {self._path} deletes or rewrites rows"
                f"{what}, which cannot be undone in a topic. Set {TABLE_CHANGES}={REREAD} to read "
                f"again what it rewrites, or skip to leave such versions out; or set the offset to "
                f'{{"version": {version.number + 1}, "index": 0}}.'
            )
        return ()

    def _frame(self, table: DeltaTable, found: Found) -> DataFrame:
        from pyspark.sql import functions as sql

        with explained("delta"):
            frames = []
            for number, file in enumerate(found.files):
                rows = table.frame(found.snapshot, [file])
                fields = rows.columns
                rows = rows.withColumn(FILE, sql.lit(number))
                made = rows.selectExpr(*selected(fields, self._select), FILE)
                refuse_unless_one_to_one(made)
                frames.append(record_frame(made, self._columns, [FILE]))
            return reduce(lambda one, other: one.union(other), frames)
