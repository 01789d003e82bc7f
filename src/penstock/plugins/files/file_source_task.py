"""Reads the new lines of a task's files, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Final

from penstock.plugins.files.file_choice import chosen_files
from penstock.plugins.files.file_jail import Jail
from penstock.plugins.files.file_lines import FileLines
from penstock.plugins.files.file_offsets import identity_of, partition_of, position_of
from penstock.plugins.files.file_share import SHARE
from penstock.plugins.files.file_source_config import BATCH_SIZE, FILE_SOURCE_CONFIG, TOPIC
from penstock.plugins.files.line_reader import FIRST_BLOCK, LineReader
from penstock.sdk.batches import SourceBatch
from penstock.sdk.distribution.strategy import Share
from penstock.sdk.sources.abstract_source_task import AbstractSourceTask
from penstock.sdk.sources.backoff import BackoffConfig
from penstock.sdk.sources.offset_entries import OffsetManagerKey
from penstock.sdk.sources.source_config import SourceCommonConfig
from penstock.sdk.tasks import SourceTask

MOST_LINES: Final = 50_000


class FileStreamSourceTask(AbstractSourceTask):
    """Files are local and are never waited for, so they are asked at every poll."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSourceTask"
    iterator_is_prompt: ClassVar[bool] = True
    iterator_needs_no_pause: ClassVar[bool] = True

    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        config = SourceCommonConfig(FILE_SOURCE_CONFIG, props)
        self._files = chosen_files(props)
        self._jail = Jail.of(props)
        self._block = bytearray(FIRST_BLOCK)
        # The default is Kafka Connect's and would only cost speed: use it only if the user set it.
        chosen = BATCH_SIZE in props
        self._most_lines = min(MOST_LINES, config[BATCH_SIZE]) if chosen else MOST_LINES
        return config

    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[SourceBatch | None]:
        share = Share.from_config(SHARE, self.config.props)
        topic: str = self.config[TOPIC]
        self._lines = FileLines(topic, self._files, share, self._reader, self._room)
        return self._lines

    def close_resources(self) -> None:
        if hasattr(self, "_lines"):
            self._lines.close()

    def has_news(self) -> bool:
        return self._lines.rota.has_news()

    def wake_on_news(self, wake: Callable[[], None]) -> bool:
        return self._lines.rota.ring_on_news(wake)

    def _room(self, line_bytes: float) -> int:
        if self.batch_bytes >= SourceTask.batch_bytes:
            return self._most_lines
        return max(1, min(self._most_lines, int(self.batch_bytes / line_bytes)))

    def _reader(self, path: str) -> LineReader:
        offset = self.offset_manager.get_entry(OffsetManagerKey(partition_of(path)), dict)
        position, identity = position_of(offset), identity_of(offset)
        return LineReader(path, position, self._block, self._jail, identity)
