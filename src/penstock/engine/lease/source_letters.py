"""Records of a source that could not be read, transformed or converted: skipped, or dead letters.

A letter holds the key and value as far as they got: bytes as they are, anything else as JSON. Its
headers tell the source partition and offset with which the worker goes on after the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa

from penstock.columnar.json_converter import JsonConverter
from penstock.engine.lease.dead_letters import Letter, context_headers, limited, sendable
from penstock.engine.lease.lease import SourceLease
from penstock.engine.lease.tolerating import tolerate
from penstock.engine.pipeline.stage_error import StageError
from penstock.kafka.letter_headers import PREFIX
from penstock.sdk.errors import RecordError
from penstock.sdk.header_values import header_bytes
from penstock.sdk.offsets import ChangedOffset
from penstock.sdk.records import Headers, SourceRecord

Offsets = Sequence[ChangedOffset]


class SourceLetters:
    """The bad records of one source lease."""

    def __init__(self, lease: SourceLease) -> None:
        self._lease = lease
        self._letters: list[Letter] = []

    def take_letters(self) -> list[Letter]:
        """What has to be in the same transaction as the offsets past the records, once."""
        letters, self._letters = self._letters, []
        return letters

    def forget(self) -> None:
        """The records are tried again."""
        self._letters = []

    def take_row(self, batch: pa.RecordBatch, error: StageError, offsets: Offsets) -> bool:
        """Set one row of a batch aside; FatalError if the connector tolerates no errors.

        Whether there is a letter for it.
        """
        row = error.row
        topic = batch.column("topic")[row].as_py()
        self._tolerate(error, f"for topic {topic}")
        key, value = (
            _bytes(batch.column(side).slice(row, 1), batch.schema.field(side))
            for side in ("key", "value")
        )
        headers = batch.column("headers")[row].as_py() or ()
        own = [(header["key"], header["value"]) for header in headers]
        stamp = batch.column("timestamp")[row].as_py()
        return self._add(key, value, [*own, *self._told(topic, error, offsets)], stamp)

    def take_record(self, record: SourceRecord, error: StageError) -> bool:
        """As ``take_row``, of a record that does not fit its schema."""
        self._tolerate(error, f"for topic {record.topic}")
        offsets = [(record.source_partition, record.source_offset)]
        told = self._told(record.topic, error, offsets)
        key, value = _json(record.key), _json(record.value)
        return self._add(key, value, [*_plain(record.headers), *told], record.timestamp)

    def take_unread(self, error: StageError, read: RecordError) -> bool:
        """As ``take_row``, of what the task could not make a record of."""
        self._tolerate(error, "at the source")
        told = self._told(None, error, offsets_of(read))
        return self._add(None, read.data, told, None)

    def _tolerate(self, error: StageError, place: str) -> None:
        tolerate(
            self._lease,
            error,
            record=f"source record is {place}",
            place=place,
            remedy="Correct it at the source",
        )

    def _add(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: list[tuple[str, bytes | None]],
        timestamp: int | None,
    ) -> bool:
        topic = self._lease.tolerance.dead_letter_topic
        if topic:
            self._letters.append((topic, value, key, headers, sendable(timestamp)))
        return bool(topic)

    def _told(
        self, topic: str | None, error: StageError, offsets: Offsets
    ) -> list[tuple[str, bytes | None]]:
        partitions, positions = _apart(offsets)
        told: list[tuple[str, bytes | None]] = [
            (f"{PREFIX}source.partition", limited(_one_or_all(partitions))),
            (f"{PREFIX}source.offset", limited(_one_or_all(positions))),
        ]
        if self._lease.tolerance.context_headers:
            told += context_headers(self._lease, error, {"topic": topic} if topic else {})
        return told


def offsets_of(error: RecordError) -> Offsets:
    """Where the source goes on after a record that a task could not read."""
    if error.source_partition is None or error.source_offset is None:
        return []
    return [(error.source_partition, error.source_offset)]


def _apart(offsets: Offsets) -> tuple[list[dict[str, Any]], list[dict[str, Any] | None]]:
    positions = [None if offset is None else dict(offset) for _, offset in offsets]
    return [dict(partition) for partition, _ in offsets], positions


def _one_or_all(values: Sequence[dict[str, Any] | None]) -> str:
    shown = values[0] if len(values) == 1 else values
    return orjson.dumps(shown, default=str).decode()


def _bytes(row: pa.Array, field: pa.Field) -> bytes | None:
    if pa.types.is_binary(row.type) or pa.types.is_large_binary(row.type):
        found: bytes | None = row[0].as_py()
        return found
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"}, is_key=False)
    try:
        text: bytes | None = converter.encode(row, field)[0].as_py()
    except RecordError:
        return _json(row[0].as_py())
    return text


def _plain(headers: Headers) -> list[tuple[str, bytes | None]]:
    return [(name, header_bytes(value)) for name, value in headers]


def _json(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return repr(value).encode()
