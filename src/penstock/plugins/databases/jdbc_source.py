"""Rows of tables become records: stands in for Confluent's JDBC source."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from penstock import __version__
from penstock.plugins.databases import source_config as keys
from penstock.plugins.databases.first_load import LoadRange, Merge, load_of, without_loads
from penstock.plugins.databases.jdbc_source_task import JdbcSourceTask
from penstock.plugins.databases.jdbc_url import URL
from penstock.plugins.databases.source_settings import SourceSettings
from penstock.plugins.databases.table_offsets import PARTITION_KEYS, check_alteration
from penstock.plugins.databases.table_share import TABLES, Work, to_text
from penstock.plugins.files.file_jail import ROOTS
from penstock.sdk.checked import objections
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.databases import TableId
from penstock.sdk.errors import PenstockError
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import ChangedOffset, OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.tasks import SourceTask

log = logging.getLogger(__name__)


class JdbcSourceConnector(SourceConnector):
    """Reads tables of PostgreSQL or SQLite, or the result of a query.

    Tables are dealt out to the tasks; new ones are found while it runs. If there are more tasks
    than tables, the first load of a numbered table is divided among several.
    """

    config_def: ClassVar[ConfigDef] = keys.SOURCE_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = (
        "as long as rows appear in the order of the mode's columns; at least once with mode=bulk, "
        "which reads everything again and again"
    )
    connect_class: ClassVar[str] = "io.confluent.connect.jdbc.JdbcSourceConnector"
    aliases: ClassVar[tuple[str, ...]] = ("PostgresSource", "JdbcSource")
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": "jdbc:postgresql://db.example:5432/shop?sslmode=verify-full",
        "connection.user": "penstock",
        "connection.password": "${file:/etc/penstock/secrets/shop.properties:password}",
        "table.whitelist": "orders",
        "mode": "timestamp+incrementing",
        "timestamp.column.name": "changed_at",
        "incrementing.column.name": "id",
        "topic.prefix": "shop-",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }
    task_class: ClassVar[type[SourceTask]] = JdbcSourceTask
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)
    partition_keys: ClassVar[tuple[str, ...]] = PARTITION_KEYS

    @classmethod
    def guarantee_of(cls, config: Mapping[str, str]) -> Guarantee | None:
        bulk = keys.SOURCE_CONFIG[keys.MODE].read(config).lower() == "bulk"
        return Guarantee.AT_LEAST_ONCE if bulk else cls.guarantee

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        return objections(lambda: SourceSettings.of(config), URL)

    def start(self, config: Mapping[str, str]) -> None:
        self._settings = SourceSettings.of(config)
        self._config = dict(config)
        self._session = self._settings.session()
        self._tables: list[TableId] = []
        self._listed_at = self._looked_at = float("-inf")
        self._told: list[str] = []

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self._config) for _ in range(1 if self._settings.query else max_tasks)]

    def look(self, offsets: OffsetReader) -> bool:
        """Asks the database, at most once in ``poll.interval.ms``, and no task for nothing."""
        now = time.monotonic()
        if now < self._looked_at + self._settings.interval:
            return False
        self._looked_at = now
        try:
            return self._anything(offsets)
        except PenstockError:
            return True  # a task reports what is wrong

    def plan(
        self, offsets: OffsetReader, tasks: Sequence[int]
    ) -> Sequence[Mapping[str, str]] | None:
        if self._settings.query or not tasks:
            return None
        try:
            work = self._work(offsets, len(tasks))
        except PenstockError:
            return None  # as above: tasks without a share tell what is wrong
        return [{TABLES: to_text(work[place :: len(tasks)])} for place in range(len(tasks))]

    def _work(self, offsets: OffsetReader, tasks: int) -> list[Work]:
        """Each table; in its place the ranges of its first load, if there are tasks for them."""
        tables = self._current_tables()
        parts = -(-tasks // len(tables)) if tables else 0
        return [work for table in tables for work in self._work_of(table, offsets, parts)]

    def _work_of(self, table: TableId, offsets: OffsetReader, parts: int) -> list[Work]:
        load = load_of(table, offsets, wanted=self._settings.read[keys.MODE] == "incrementing")
        if isinstance(load, Merge):
            return [Work(table, merge=load)]
        found = load or self._ranges(table, offsets, parts)
        return [Work(table, part) for part in found] or [Work(table)]

    def _ranges(self, table: TableId, offsets: OffsetReader, parts: int) -> list[LoadRange]:
        try:
            return self._settings.ranges(self._session, table, offsets, parts)
        except PenstockError:
            return []  # the task that gets the table tells what is wrong with it

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> Sequence[ChangedOffset]:
        for partition, offset in offsets:
            check_alteration(partition, offset)
        known = [(partition, offset) for partition, offset in offsets if partition is not None]
        return list(without_loads(self.committed, known))

    def stop(self) -> None:
        if hasattr(self, "_session"):
            self._session.close()

    def _anything(self, offsets: OffsetReader) -> bool:
        settings, session = self._settings, self._session
        if settings.query:
            return settings.query_reader(session, offsets).waits(session)
        return any(
            settings.table_reader(session, table, offsets).waits(session)
            for table in self._current_tables()
        )

    def _current_tables(self) -> list[TableId]:
        every = self._settings.read[keys.TABLE_POLL_INTERVAL] / 1000
        if time.monotonic() >= self._listed_at + every or not self._tables:
            choice = self._settings.choice
            self._tables = choice.tables(self._session, self._settings.dialect)
            self._listed_at = time.monotonic()
            self._tell(choice.missing(self._tables))
        return self._tables

    def _tell(self, missing: list[str]) -> None:
        if missing and missing != self._told:
            log.warning(
                "not found in the %s: %s. They are read once they exist",
                self._settings.database,
                ", ".join(missing),
            )
        self._told = missing
