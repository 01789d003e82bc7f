"""Appends values to a file, a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import pyarrow as pa

from penstock.plugins.appended_file import AppendedFile
from penstock.plugins.committed_length import CommittedLength, newest
from penstock.plugins.file_errors import missing_file, required_path
from penstock.plugins.file_jail import Jail
from penstock.plugins.file_sink_config import FILE, FILE_SINK_CONFIG
from penstock.plugins.line_text import as_lines
from penstock.sdk.errors import RetriableError
from penstock.sdk.tasks import Assignment, SinkTask


class FileStreamSinkTask(SinkTask):
    """Exactly once as the only task: what was written but never committed is cut off at ``open``.

    With ``tasks.max`` above 1 several tasks append to one file. None of them can tell whose bytes
    stand at its end, so nothing is cut: at least once.
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

    def open(self, assignments: Sequence[Assignment]) -> None:
        if not self._alone:
            return
        committed = newest(assignments, self._file.inode)
        if committed is not None and _is_of(self._file, committed):
            self._file.cut(committed.length)

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
