"""The formats of objects, batch by batch.

In an envelope each record is an object with the chosen fields: ``key`` and ``value`` as they are,
``offset`` a number, ``timestamp`` an ISO-8601 text (Avro and Parquet: their own timestamps) and
``headers`` a list of ``key`` and ``value``. What is bytes is base64 in json and jsonl, header
values too.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.objects.sink_compression import compressed
from penstock.plugins.objects.sink_config import SinkSettings
from penstock.plugins.objects.sink_json import instants, joined, json_texts


class ObjectFormat(ABC):
    """Writes one object into ``file``, which stays open."""

    def __init__(self, file: IO[bytes], settings: SinkSettings) -> None:
        self._settings = settings

    def takes(self, batch: pa.RecordBatch) -> bool:
        """Whether the batch has the schema of this object; if not, it needs another object."""
        return True

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> int:
        """Add the records; how many bytes they are before compression, about."""

    @abstractmethod
    def finish(self) -> None:
        """Write what the end of the object needs."""


class TextFormat(ObjectFormat):
    """Formats of text, made column by column."""

    def __init__(self, file: IO[bytes], settings: SinkSettings) -> None:
        super().__init__(file, settings)
        self._out = compressed(file, settings.compression)

    def write(self, batch: pa.RecordBatch) -> int:
        data = joined(self.texts(batch))
        self._out.write(data)
        return len(data)

    @abstractmethod
    def texts(self, batch: pa.RecordBatch) -> pa.Array:
        """What is written of each record: texts, or bytes."""

    def finish(self) -> None:
        self._out.close()


class JsonLinesFormat(TextFormat):
    """One JSON value a line."""

    def texts(self, batch: pa.RecordBatch) -> pa.Array:
        return pc.binary_join_element_wise(json_records(batch, self._settings), "\n", "")


class JsonFormat(TextFormat):
    """One array of all records."""

    def __init__(self, file: IO[bytes], settings: SinkSettings) -> None:
        super().__init__(file, settings)
        self._before = "[\n"

    def texts(self, batch: pa.RecordBatch) -> pa.Array:
        befores = pa.array([self._before, *[",\n"] * (batch.num_rows - 1)], pa.string())
        self._before = ",\n"
        return pc.binary_join_element_wise(befores, json_records(batch, self._settings), "")

    def finish(self) -> None:
        self._out.write(b"\n]" if self._before == ",\n" else b"[]")
        super().finish()


class CsvFormat(TextFormat):
    """A line a record and no header line; null is empty, and an empty text is ``""``.

    Bytes that are written as they are need not be UTF-8.
    """

    def texts(self, batch: pa.RecordBatch) -> pa.Array:
        columns: list[Any] = []
        for name in self._settings.fields:
            between = [b","] if columns else []
            columns += [*between, self._column(name, batch.column(name)).cast(pa.binary())]
        return pc.binary_join_element_wise(*columns, b"\n", b"")

    def _column(self, name: str, column: pa.Array) -> pa.Array:
        if name == "timestamp":
            return pc.fill_null(instants(column), "")
        if name == "headers":
            return pa.array([_header_texts(row) for row in column.to_pylist()], pa.string())
        if name == "offset":
            return pc.cast(column, pa.string())
        made = base64.b64encode if self._settings.base64 else _quoted
        return pa.array([_in_csv(row, made) for row in _as_bytes(column)], pa.binary())


def _as_bytes(column: pa.Array) -> list[bytes | None]:
    if pa.types.is_binary(column.type):
        return list(column.to_pylist())
    texts = column if pa.types.is_string(column.type) else json_texts(column)
    there = pc.is_valid(column).to_pylist()
    rows = zip(texts.to_pylist(), there, strict=True)
    return [str(text).encode() if valid else None for text, valid in rows]


def _in_csv(row: bytes | None, made: Callable[[bytes], bytes]) -> bytes:
    return b"" if row is None else made(row) or b'""'


def _quoted(data: bytes) -> bytes:
    special = any(mark in data for mark in (b",", b'"', b"\r", b"\n"))
    return b'"' + data.replace(b'"', b'""') + b'"' if special else data


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _header_texts(headers: list[dict[str, Any]] | None) -> str:
    """``key:value`` of each, both in base64, as Aiven writes them; ``key`` where it is null."""
    pairs = ((_base64(header["key"].encode()), header["value"]) for header in headers or ())
    return ";".join(k if v is None else f"{k}:{_base64(v)}" for k, v in pairs)


def json_records(batch: pa.RecordBatch, settings: SinkSettings) -> pa.Array:
    """Each record as JSON, in its envelope or without."""
    if not settings.envelope:
        return _json_field(settings.fields[0], batch)
    parts: list[Any] = []
    for name in settings.fields:
        parts += [("," if parts else "{") + f'"{name}":', _json_field(name, batch)]
    return pc.binary_join_element_wise(*parts, "}", "")


def _json_field(name: str, batch: pa.RecordBatch) -> pa.Array:
    column = batch.column(name)
    return json_texts(instants(column) if name == "timestamp" else column)


_TEXT_FORMATS: Final[dict[str, type[ObjectFormat]]] = {
    "jsonl": JsonLinesFormat,
    "json": JsonFormat,
    "csv": CsvFormat,
}


def format_maker(settings: SinkSettings) -> Callable[[IO[bytes], pa.RecordBatch], ObjectFormat]:
    """Makes the format of an object whose first records are in that batch."""
    if settings.format in _TEXT_FORMATS:
        made = _TEXT_FORMATS[settings.format]
        return lambda file, _: made(file, settings)
    if settings.format == "avro":
        from penstock.plugins.objects.sink_avro import AvroFormat

        return lambda file, first: AvroFormat(file, settings, first)
    from penstock.plugins.objects.sink_parquet import ParquetFormat

    return lambda file, first: ParquetFormat(file, settings, first)
