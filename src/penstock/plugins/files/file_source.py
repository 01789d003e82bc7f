"""Every line of a file becomes a record: stands in for Kafka Connect's FileStreamSource."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from penstock import __version__
from penstock.plugins.files.altered_positions import check_positions
from penstock.plugins.files.file_choice import choice_error, chosen_files, names_any, reads_many
from penstock.plugins.files.file_events import FileBell
from penstock.plugins.files.file_jail import ROOTS
from penstock.plugins.files.file_offsets import FILENAME, IDENTITY, check_alteration
from penstock.plugins.files.file_planner import FilePlanner, bytes_after
from penstock.plugins.files.file_share import SHARE
from penstock.plugins.files.file_source_config import FILE, FILE_SOURCE_CONFIG
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.plugins.files.tail_watch import TailWatches
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import UserError
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.tasks import SourceTask

_NO_FILE = (
    "Offsets cannot be modified if the 'file' configuration is unspecified. "
    "This is because stdin is used for input and offsets are not tracked."
)


class FileStreamSourceConnector(SourceConnector):
    """Reads one file with one task, or all files of a pattern with ``tasks.max`` tasks.

    A rotated file is read to its end if a task has it open at that time, or finds it again in its
    folder. Lines appended while no task had the file open are missed if it was then moved elsewhere
    or truncated.
    """

    config_def: ClassVar[ConfigDef] = FILE_SOURCE_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = "as long as files are only appended to"
    connect_class: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSourceConnector"
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "FileStreamSource",
        "file": "/var/log/app.log",
        "topic": "app-log",
    }
    task_class: ClassVar[type[SourceTask]] = FileStreamSourceTask
    partition_keys: ClassVar[tuple[str, ...]] = (FILENAME,)
    unlisted_offset_keys: ClassVar[tuple[str, ...]] = (IDENTITY,)
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)

    _bell: FileBell | None = None
    """Of the one file that is read by its name; files of a pattern are looked at."""

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        error = choice_error(config)
        return () if error is None else [(error.key or FILE, str(error))]

    def start(self, config: Mapping[str, str]) -> None:
        self._files = chosen_files(config)
        self._config = dict(config)
        self._planner = FilePlanner()
        self._watches = TailWatches()
        if not reads_many(config):
            self._bell = FileBell(self._files.folder)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        tasks = max_tasks if reads_many(self._config) else 1
        return [dict(self._config) for _ in range(tasks)]

    def look(self, offsets: OffsetReader) -> bool:
        try:
            held = self._planner.held
            paths = self._files.names()
            if held:
                paths = [path for path in paths if path not in held]
            return self._watches.see_line(paths, offsets)
        except (OSError, UserError):
            return True  # a task reports what is wrong with the folder, or with the offset

    def wake_on_news(self, wake: Callable[[], None]) -> None:
        bell = self._bell
        if bell is not None and not bell.armed and bell.arm(wake):
            wake()  # it may have changed since it was looked at

    def stop(self) -> None:
        if self._bell is not None:
            self._bell.close()

    def plan(
        self, offsets: OffsetReader, tasks: Sequence[int]
    ) -> Sequence[Mapping[str, str]] | None:
        if not reads_many(self._config):
            return None
        shares = self._planner.plan(self._left(offsets), tasks)
        return [share.to_config(SHARE) for share in shares]

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        if not names_any(config):
            raise UserError(_NO_FILE)
        for partition, offset in offsets:
            check_alteration(partition, offset)
        check_positions(chosen_files(config), offsets)
        return True

    def _left(self, offsets: OffsetReader) -> dict[str, int]:
        try:
            return {path: bytes_after(offsets, path) for path in self._files.names()}
        except OSError:
            return {}  # the tasks say what is wrong
