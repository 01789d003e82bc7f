"""Whatever Spark can read, as a source: files of its formats, and databases, into topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from penstock import __version__
from penstock.plugins.databases.table_offsets import PARTITION_KEYS as TABLE_KEYS
from penstock.plugins.databases.table_offsets import check_alteration
from penstock.plugins.files.file_jail import ROOTS, Jail
from penstock.plugins.objects.source_altering import Altering
from penstock.plugins.objects.source_marks import VIRTUAL_BUCKETS
from penstock.plugins.objects.source_offsets import PARTITION_KEYS as FILE_KEYS
from penstock.plugins.spark.delta_offsets import check_delta_offset, delta_partition
from penstock.plugins.spark.delta_planner import DeltaPlanner
from penstock.plugins.spark.file_planner import FilePlanner
from penstock.plugins.spark.hadoop_files import folder_of, on_this_machine
from penstock.plugins.spark.source_config import (
    DELTA,
    FORMAT,
    JDBC,
    MODE,
    PATH,
    SELECT,
    SPARK_SOURCE_CONFIG,
    wrong_settings,
)
from penstock.plugins.spark.table_planner import TablePlanner
from penstock.sdk.config import ConfigDef
from penstock.sdk.errors import ConfigError, OffsetError, UserError
from penstock.sdk.frame_sources import (
    FrameShare,
    FrameSourceConnector,
    SourceTurn,
    SourceTurnEnd,
)
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import ChangedOffset, OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.sql_expressions import expressions

Planner = FilePlanner | TablePlanner | DeltaPlanner


class SparkSourceConnector(FrameSourceConnector):
    """Reads each file once, and again when it has changed; or the new rows of a table."""

    config_def: ClassVar[ConfigDef] = SPARK_SOURCE_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = (
        "as long as no file changes, and rows appear in the order of the mode's columns; at least "
        "once with mode=bulk, which reads everything again and again"
    )
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "SparkSource",
        "topic": "orders",
        "format": "parquet",
        "path": "/data/orders",
        "key.column": "id",
    }
    partition_keys: ClassVar[tuple[str, ...]] = (*FILE_KEYS, *TABLE_KEYS)
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)

    @classmethod
    def guarantee_of(cls, config: Mapping[str, str]) -> Guarantee | None:
        read = {key: SPARK_SOURCE_CONFIG[key].read(config) for key in (FORMAT, MODE)}
        bulk = read[FORMAT] == JDBC and read[MODE] == "bulk"
        return Guarantee.AT_LEAST_ONCE if bulk else cls.guarantee

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Options and expressions have limits, and the worker may restrict folders."""
        parsed, found = SPARK_SOURCE_CONFIG.parse(config), wrong_settings(config)
        checks: list[tuple[str, Callable[[], object]]] = [
            (SELECT, lambda: expressions(SELECT, parsed[SELECT])),
            (PATH, lambda: _check_path(config, parsed)),
        ]
        for key, check in checks:
            try:
                check()
            except (ConfigError, UserError) as error:
                found.append((key, str(error)))
        return found

    def start(self, config: Mapping[str, str]) -> None:
        """Nothing is listed or read yet."""
        self._config = dict(config)
        self._values = SPARK_SOURCE_CONFIG.parse(config)
        for key, message in self.validate(config):
            raise ConfigError(f"{key}: {message}", key=key)
        self._planner: Planner = self._made(1)

    def _made(self, tasks: int) -> Planner:
        if self._values[FORMAT] == JDBC:
            return TablePlanner(self._config, self._values)
        if self._values[FORMAT] == DELTA:
            return DeltaPlanner(self._values)
        return FilePlanner(self._config, self._values, tasks)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """As many as share the virtual buckets; one for a table, whose rows have an order."""
        most = 1 if self._values[FORMAT] in (JDBC, DELTA) else VIRTUAL_BUCKETS
        tasks = min(max_tasks, most)
        self._planner = self._made(tasks)
        return [{} for _ in range(tasks)]

    def look(self, offsets: OffsetReader) -> bool:
        """Whether it is time to list, or to ask."""
        return self._planner.is_due()

    def plan_turn(self, spark: Any, turn: SourceTurn) -> Sequence[FrameShare]:
        """The files or rows of the turn."""
        return self._planner.plan(spark, turn)

    def failed(self, text: str) -> bool:
        """With ``errors.tolerance=all``, a damaged file becomes a dead letter."""
        return self._planner.failed(text)

    def turned(self, end: SourceTurnEnd) -> None:
        """What was listed holds."""
        self._planner.turned(sum(end.tasks.values()))

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool | Sequence[ChangedOffset]:
        """A file's, a virtual bucket's, or a table's."""
        values = SPARK_SOURCE_CONFIG.parse(config)
        if values[FORMAT] == JDBC:
            wanted = TablePlanner(config, values).partition
            for partition, offset in offsets:
                _check_row_offset(wanted, partition, offset)
            return True
        if values[FORMAT] == DELTA:
            for partition, offset in offsets:
                check_delta_offset(delta_partition(values[PATH]), partition, offset)
            return True
        planner = FilePlanner(config, values, 1)
        return Altering(values[PATH], planner.number_of).altered(offsets)


def _check_row_offset(
    wanted: SourcePartition, partition: SourcePartition | None, offset: SourceOffset | None
) -> None:
    if offset is None:
        return  # garbage must stay removable
    check_alteration(partition, offset)
    if partition != wanted:
        raise OffsetError(f"The only source partition of this connector is {dict(wanted)}.")


def _check_path(config: Mapping[str, str], parsed: Mapping[str, Any]) -> None:
    """ConfigError if it is missing, UserError if the worker does not allow it."""
    path = parsed[PATH]
    if parsed[FORMAT] == JDBC:
        if path:
            raise ConfigError("jdbc reads no files: leave it out", key=PATH)
        return
    if not path:
        raise ConfigError("say which files to read", key=PATH)
    if (local := on_this_machine(folder_of(path))) is not None:
        Jail.of(config).check(local)
