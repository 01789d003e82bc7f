"""Appends values to a file, a line each."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.plugins.files.appended_file import AppendedFile
from penstock.plugins.files.committed_length import CommittedLength, newest
from penstock.plugins.files.file_errors import missing_file, required_path
from penstock.plugins.files.file_jail import Jail
from penstock.plugins.files.file_sink_config import FILE, FILE_SINK_CONFIG
from penstock.plugins.files.line_text import as_lines
from penstock.sdk.errors import RetriableError
from penstock.sdk.tasks import Assignments, SinkTask

log = logging.getLogger(__name__)


class FileStreamSinkTask(SinkTask):
    """Exactly once as the only task: ``open`` removes what was written but never committed.

    With ``tasks.max`` above 1 several tasks append to one file. None of them knows which task wrote
    the bytes at its end, so nothing is removed: at least once.
    """

    connect_class: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSinkTask"
    wants_headers = False
    wants_timestamps = False

    def start(self, config: Mapping[str, str]) -> None:
        path: str | None = FILE_SINK_CONFIG[FILE].read(config)
        self._alone = int(config.get("tasks.max") or 1) <= 1
        message = missing_file("write", "standard output")
        jail = Jail.of(config)
        self._file = AppendedFile(required_path(path, message), alone=self._alone, jail=jail)
        if self._alone:
            self._lock()

    def _lock(self) -> None:
        try:
            self._file.lock()
        except RetriableError:
            self._file.close()
            raise

    def open(self, assignments: Assignments) -> None:
        if not self._alone:
            return
        committed = newest(assignments, self._file.inode)
        if committed is not None and _is_of(self._file, committed):
            self._cut(committed.length)

    def _cut(self, length: int) -> None:
        extra = self._file.length - length
        if not extra:
            return
        log.warning(
            "truncating %s to the %d bytes that it had at the last commit: %d bytes (%d lines) "
            "after that were never committed. Their records will be read again, unless the "
            "offset was altered past them",
            self._file.path,
            length,
            extra,
            self._file.lines_after(length),
        )
        self._file.cut(length)

    def put(self, batch: pa.RecordBatch) -> None:
        self._file.append(as_lines(batch.column("value")))

    def flush(self) -> str:
        self._file.sync()
        length = self._file.length
        return CommittedLength(length, self._file.inode, self._file.tail(length)).text()

    def stop(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def _is_of(file: AppendedFile, committed: CommittedLength) -> bool:
    long_enough = file.length >= committed.length
    return long_enough and committed.tail in (None, file.tail(committed.length))
