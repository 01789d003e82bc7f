"""A sink connector in one file: every value becomes a row of an SQLite table, exactly once.

How exactly once is had, with one task and one input partition:

- ``flush`` makes the rows durable and returns how many there are. The worker commits this text
  with the offsets, in one Kafka transaction.
- ``open`` gets the text back and deletes the rows behind that number: an earlier lease wrote them,
  but its offsets were never committed, so the same records are about to come again.
- The database is locked from ``start`` to ``stop``: a lease that was given up but still lives
  cannot write behind its successor's back.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from penstock.sdk import (
    Assignment,
    ConfigDef,
    ConfigKey,
    Guarantee,
    Importance,
    RetriableError,
    SinkConnector,
    SinkTask,
    non_empty,
)

CONFIG = ConfigDef(
    ConfigKey(
        "database",
        validator=non_empty,
        importance=Importance.HIGH,
        doc="Path of the database, as the worker's hosts see it.",
    ),
    ConfigKey(
        "die.once",
        default="",
        doc="For the example: if this file does not exist, make it and die, with rows written but "
        "their offsets not committed.",
    ),
)


class SqliteSinkTask(SinkTask):
    """The part that moves records, in a Python worker of Spark. Lives for one lease."""

    wants_headers: ClassVar[bool] = False

    def start(self, config: Mapping[str, str]) -> None:
        settings = CONFIG.parse(config)
        self._death = settings["die.once"]
        self._put = 0
        self._database = sqlite3.connect(settings["database"], timeout=0, isolation_level=None)
        try:
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            self._database.close()
            raise RetriableError(f"{settings['database']}: {error}") from error
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS records (number INTEGER PRIMARY KEY, value TEXT)"
        )

    def open(self, assignments: Sequence[Assignment]) -> None:
        committed = [int(each.metadata) for each in assignments if each.metadata]
        if committed:
            self._database.execute("DELETE FROM records WHERE number > ?", (max(committed),))

    def put(self, batch: pa.RecordBatch) -> None:
        rows = [(value,) for value in batch.column("value").to_pylist()]
        self._database.executemany("INSERT INTO records (value) VALUES (?)", rows)
        self._put += len(rows)

    def flush(self) -> str:
        self._database.execute("COMMIT")
        self._die_once()
        self._database.execute("BEGIN EXCLUSIVE")
        (count,) = self._database.execute("SELECT coalesce(max(number), 0) FROM records").fetchone()
        return str(count)

    def stop(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()

    def _die_once(self) -> None:
        if self._death and self._put and not Path(self._death).exists():
            Path(self._death).write_text(f"{self._put} rows were written, then the task died.\n")
            os._exit(1)


class SqliteSinkConnector(SinkConnector):
    """The part that lives in the worker."""

    config_def: ClassVar[ConfigDef] = CONFIG
    task_class: ClassVar[type[SinkTask]] = SqliteSinkTask
    version: ClassVar[str] = "1.0"
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = "with one input partition"

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One task, whatever is allowed: the database has one writer."""
        return super().task_configs(1)

    def alter_offsets(self, config: Mapping[str, str], offsets: object) -> bool:
        """Refuses nothing: what is read again is written again."""
        return True
