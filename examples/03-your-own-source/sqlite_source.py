"""A source connector in one file: the rows of an SQLite table, in the order of their ids."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from penstock.sdk import (
    ConfigDef,
    ConfigKey,
    Guarantee,
    Importance,
    OffsetReader,
    RetriableError,
    SourceConnector,
    SourceOffset,
    SourcePartition,
    SourceRecord,
    SourceTask,
    UserError,
    non_empty,
)

# Described once: for validation, for `GET /connector-plugins/SqliteSource/config`, for forms.
CONFIG = ConfigDef(
    ConfigKey(
        "database",
        validator=non_empty,
        importance=Importance.HIGH,
        doc="Path of the database, as the worker's hosts see it.",
    ),
    ConfigKey(
        "table",
        validator=non_empty,
        importance=Importance.HIGH,
        doc="A table whose integer column id only ever grows.",
    ),
    ConfigKey("topic", validator=non_empty, importance=Importance.HIGH, doc="Where rows go."),
)
MOST_ROWS = 1000


class Table:
    """One table, and what comes behind an id in it."""

    def __init__(self, config: Mapping[str, str]) -> None:
        settings = CONFIG.parse(config)
        self.topic: str = settings["topic"]
        self.partition: SourcePartition = {
            "database": settings["database"],
            "table": settings["table"],
        }

    def position(self, offsets: OffsetReader) -> int:
        """The id of the last row that was delivered."""
        offset = offsets.get(self.partition)
        return int(offset["id"]) if offset else 0

    def rows_after(self, position: int, most: int = MOST_ROWS) -> list[dict[str, Any]]:
        """The next rows."""
        table = self.partition["table"].replace('"', '""')
        query = f'SELECT * FROM "{table}" WHERE id > ? ORDER BY id LIMIT ?'  # noqa: S608 (quoted)
        place = Path(self.partition["database"]).absolute().as_uri() + "?mode=ro"
        try:
            with closing(sqlite3.connect(place, uri=True)) as database:
                database.row_factory = sqlite3.Row
                return [dict(row) for row in database.execute(query, (position, most))]
        except sqlite3.OperationalError as error:
            raise RetriableError(f"{self.partition['database']}: {error}", retry_after=2) from error


class SqliteSourceTask(SourceTask):
    """The part that moves records, in a Python worker of Spark. Lives for one lease."""

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self._table = Table(config)
        self._position = self._table.position(offsets)

    def poll(self) -> list[SourceRecord] | None:
        rows = self._table.rows_after(self._position)
        if not rows:
            return None
        self._position = rows[-1]["id"]
        return [self._record(row) for row in rows]

    def _record(self, row: dict[str, Any]) -> SourceRecord:
        # The offset is committed in the Kafka transaction of its record: both, or neither.
        return SourceRecord(self._table.partition, {"id": row["id"]}, self._table.topic, row)


class SqliteSourceConnector(SourceConnector):
    """The part that lives in the worker."""

    config_def: ClassVar[ConfigDef] = CONFIG
    task_class: ClassVar[type[SourceTask]] = SqliteSourceTask
    partition_keys: ClassVar[tuple[str, ...]] = ("database", "table")
    version: ClassVar[str] = "1.0"
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)
        self._table = Table(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One task, whatever is allowed: a table has one order."""
        return [self._config]

    def look(self, offsets: OffsetReader) -> bool:
        """Whether a turn of Spark is worth while; asked about once a second, so it is cheap."""
        try:
            return bool(self._table.rows_after(self._table.position(offsets), most=1))
        except RetriableError:
            return False

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Refuse what no task could start from; the text reaches the user as it is."""
        for _, offset in offsets:
            if offset is not None and not isinstance(offset.get("id"), int):
                raise UserError(f'An offset here looks like {{"id": 3}}, not {dict(offset)}')
        return True
