"""Every line of a file becomes a record: stands in for Kafka Connect's FileStreamSource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from penstock import __version__
from penstock.plugins.file_errors import missing_file, required_path
from penstock.plugins.file_offsets import FILENAME, check_alteration, position_in
from penstock.plugins.file_source_config import FILE, FILE_SOURCE_CONFIG
from penstock.plugins.file_source_task import FileStreamSourceTask
from penstock.plugins.tail_watch import TailWatch
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import UserError
from penstock.sdk.offsets import OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.tasks import SourceTask

_NO_FILE = (
    "Offsets cannot be modified if the 'file' configuration is unspecified. "
    "This is because stdin is used for input and offsets are not tracked."
)


class FileStreamSourceConnector(SourceConnector):
    """Reads one file with one task, whatever ``tasks.max`` allows.

    Exactly once while the file is only appended to. A rotated file is read to its end if a task
    is reading it at that time; what was appended to it while no task ran is not seen.
    """

    config_def: ClassVar[ConfigDef] = FILE_SOURCE_CONFIG
    version: ClassVar[str] = __version__
    connect_class: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSourceConnector"
    task_class: ClassVar[type[SourceTask]] = FileStreamSourceTask
    partition_keys: ClassVar[tuple[str, ...]] = (FILENAME,)

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        if _path(config):
            return ()
        return [(FILE, missing_file("read", "standard input"))]

    def start(self, config: Mapping[str, str]) -> None:
        self._path = required_path(_path(config), missing_file("read", "standard input"))
        self._config = dict(config)
        self._watch = TailWatch(self._path)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self._config)]

    def look(self, offsets: OffsetReader) -> bool:
        try:
            position = position_in(offsets, self._path)
        except UserError:
            return True  # the task says what is wrong with the offset
        return self._watch.sees_line_after(position)

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        if not _path(config):
            raise UserError(_NO_FILE)
        for partition, offset in offsets:
            check_alteration(partition, offset)
        return True


def _path(config: Mapping[str, str]) -> str | None:
    path: str | None = FILE_SOURCE_CONFIG[FILE].read(config)
    return path
