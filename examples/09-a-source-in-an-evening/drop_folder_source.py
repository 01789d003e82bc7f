"""A source of files that others drop into a folder, each complete when it appears.

`penstock new connector drop-folder` made its frame. What was written by hand is what is special
about this source: which objects there are, how one is opened, and when it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from penstock.sdk import (
    COMMON_SOURCE_CONFIG,
    AbstractSourceTask,
    BackoffConfig,
    ConfigDef,
    ConfigKey,
    Guarantee,
    Importance,
    ObjectContext,
    ObjectDistributionStrategy,
    OffsetError,
    OffsetManagerEntry,
    OffsetManagerKey,
    OffsetReader,
    RecordError,
    SourceBatch,
    SourceCommonConfig,
    SourceConnector,
    decompressed,
    distribution_class,
    offsets_only,
    one_of,
    restarting,
    transformer_class,
)

CONFIG = COMMON_SOURCE_CONFIG + ConfigDef(
    ConfigKey("folder", importance=Importance.HIGH, doc="Where files appear."),
    ConfigKey("topic", importance=Importance.HIGH, doc="Where their records go."),
    ConfigKey("input.format", default="jsonl", doc="Format of the files."),
    ConfigKey(
        "file.compression.type",
        default="none",
        validator=one_of("none", "gzip", "snappy", "zstd"),
        doc="How the files are compressed.",
    ),
)
TASK, TASKS = "drop.task", "drop.tasks"
DONE = "done"


def by_name() -> ObjectDistributionStrategy:
    """Which task reads which file."""
    strategy = distribution_class("object_hash")()
    strategy.configure({})
    return strategy


class DropFolderSourceTask(AbstractSourceTask):
    """Reads whole files as Arrow batches, those that are this task's and not done."""

    _open: BinaryIO | None = None

    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        config = SourceCommonConfig(CONFIG, props)
        self._folder = Path(config["folder"])
        self._mine, self._tasks = int(props[TASK]), int(props[TASKS])
        self._strategy = by_name()
        self._transformer = transformer_class(config["input.format"])()
        self._transformer.configure(props)
        return config

    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[SourceBatch | None]:
        return restarting(self._one_pass)

    def close_resources(self) -> None:
        if self._open is not None:
            self._open.close()

    def _one_pass(self) -> Iterator[SourceBatch]:
        for path in sorted(self._folder.glob("*.jsonl*")):
            # Early: nothing of a file that is another task's is looked at.
            if self._strategy.task_of(path.name, self._tasks) == self._mine:
                yield from self._batches(path)

    def _batches(self, path: Path) -> Iterator[SourceBatch]:
        key = OffsetManagerKey({"file": path.name})
        entry = OffsetManagerEntry(key)
        entry = self.offset_manager.get_entry(key, entry.from_properties) or entry
        if entry.get_bool(DONE):
            return
        with path.open("rb") as self._open:
            yield from self._whole(path, entry, self._open)
        entry.set_bool(DONE, True)
        yield offsets_only([(key.partition, entry.get_properties())])

    def _whole(
        self, path: Path, entry: OffsetManagerEntry, file: BinaryIO
    ) -> Iterator[SourceBatch]:
        stream = decompressed(file, self.config["file.compression.type"])
        context, skip = ObjectContext(path.name), entry.record_count
        try:
            for columns in self._transformer.columns(stream, context, skip):
                entry.increment_record_count(columns.position - entry.record_count)
                yield entry.source_batch(columns.record_batch(self.config["topic"]))
        except RecordError as error:
            # With errors.tolerance=all it is a dead letter, and the next pass goes on behind it.
            entry.increment_record_count(error.row - entry.record_count)
            raise entry.bad_record(str(error), error.data) from None


class DropFolderSourceConnector(SourceConnector):
    """Any number of tasks; a file has one of them, whatever their number."""

    config_def = CONFIG
    task_class = DropFolderSourceTask
    partition_keys = ("file",)
    version = "1.0"
    guarantee = Guarantee.EXACTLY_ONCE

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        numbers = [{TASK: str(task), TASKS: str(max_tasks)} for task in range(max_tasks)]
        return [{**self._config, **number} for number in numbers]

    def look(self, offsets: OffsetReader) -> bool:
        done = {partition["file"] for partition, offset in offsets if offset.get(DONE)}
        found = Path(self._config["folder"]).glob("*.jsonl*")
        return any(path.name not in done and path.stat().st_size for path in found)

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]],
    ) -> bool:
        for partition, offset in offsets:
            entry = OffsetManagerEntry(partition or {}, offset or {})
            if entry.record_count < 0:
                raise OffsetError("The recordCount of an offset is not below 0.")
        return True
