"""Every value becomes a line of a file: stands in for Kafka Connect's FileStreamSink."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import ClassVar

from penstock import __version__
from penstock.plugins.files.file_errors import missing_file, required_path
from penstock.plugins.files.file_jail import ROOTS, Jail
from penstock.plugins.files.file_sink_config import FILE, FILE_SINK_CONFIG
from penstock.plugins.files.file_sink_task import FileStreamSinkTask
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SinkConnector, TopicPartition
from penstock.sdk.errors import ConfigError, UserError
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.tasks import SinkTask


class FileStreamSinkConnector(SinkConnector):
    """Appends values to one file, a line each.

    As in Kafka Connect, all of ``tasks.max`` tasks append to the same file.
    """

    config_def: ClassVar[ConfigDef] = FILE_SINK_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = (
        "with one task and one input partition; at least once with several tasks"
    )
    connect_class: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSinkConnector"
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "FileStreamSink",
        "topics": "app-log",
        "file": "/data/app-log.txt",
    }
    task_class: ClassVar[type[SinkTask]] = FileStreamSinkTask
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)

    @classmethod
    def guarantee_of(cls, config: Mapping[str, str]) -> Guarantee | None:
        alone = int(config.get("tasks.max") or 1) <= 1
        return cls.guarantee if alone else Guarantee.AT_LEAST_ONCE

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        try:
            Jail.of(config).check(required_path(_path(config), _NO_FILE))
        except (ConfigError, UserError) as error:
            return [(FILE, str(error))]
        return ()

    def exclusive_targets(self, config: Mapping[str, str]) -> Mapping[str, str]:
        """The file, links resolved: a second sink would truncate what the first writes."""
        path = _path(config)
        return {FILE: f"file:{os.path.realpath(path)}"} if path else {}

    def start(self, config: Mapping[str, str]) -> None:
        required_path(_path(config), _NO_FILE)
        super().start(config)

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Mapping[TopicPartition, int | None],
    ) -> bool:
        """Accepts all offsets: records that are read again are appended again."""
        return True


_NO_FILE = missing_file("write", "standard output")


def _path(config: Mapping[str, str]) -> str | None:
    path: str | None = FILE_SINK_CONFIG[FILE].read(config)
    return path
