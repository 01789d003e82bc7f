"""The stages in which Avro becomes the JSON that SQL's texts are about, and JSON becomes Avro."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.sql.avro.columns import AvroRecords, AvroTexts, key_records, value_records
from penstock.sql.avro.registry import SqlRegistry
from penstock.sql.catalog.source import Source
from penstock.sql.persistent.added_columns import with_columns
from penstock.sql.planning.decoding import KEY_TEXT, TEXTS, text_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def with_texts(frame: DataFrame, source: Source, registry: SqlRegistry) -> DataFrame:
    """Records of ``source`` with those of ``TEXTS`` that it needs.

    StatementError if the registry cannot provide them: it says what is missing.
    """
    names = text_columns(source)
    if not names:
        return frame
    registry.converter(is_key=False)
    stage = _AddTexts(tuple(names), registry, source.window_bytes)
    return with_columns(frame, stage, {name: TEXTS[name] for name in names})


@dataclass(frozen=True)
class _AddTexts:
    names: tuple[str, ...]
    registry: SqlRegistry
    window_bytes: int
    """At the end of a key, which are the window."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        readers = {name: AvroTexts(self.registry, name == KEY_TEXT) for name in self.names}
        for batch in batches:
            added = [readers[name].read(self._raw(batch, name)) for name in self.names]
            names = [*batch.schema.names, *self.names]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)

    def _raw(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        if name != KEY_TEXT:
            return batch.column("value")
        keys = batch.column("key")
        return pc.binary_slice(keys, 0, -self.window_bytes) if self.window_bytes else keys


def with_json(frame: DataFrame, sources: Sequence[Source], registry: SqlRegistry) -> DataFrame:
    """Records of several topics, with the JSON of those of Avro instead of it.

    What cannot be read becomes empty, which is not JSON. StatementError as of ``with_texts``.
    """
    topics = {source.topic: source.avro for source in sources if any(source.avro)}
    if not topics:
        return frame
    registry.converter(is_key=False)
    return frame.mapInArrow(_ReadAvro(topics, registry), frame.schema)


@dataclass(frozen=True)
class _ReadAvro:
    topics: Mapping[str, tuple[bool, bool]]
    """Of each topic whether keys, and values, are Avro."""
    registry: SqlRegistry

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        readers = {name: AvroTexts(self.registry, name == "key") for name in ("key", "value")}
        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            for place, (name, reader) in enumerate(readers.items()):
                topics = [topic for topic, avro in self.topics.items() if avro[place]]
                mine = pc.is_in(batch.column("topic"), value_set=pa.array(topics, pa.string()))
                columns[name] = _changed(columns[name], mine, _in_json(reader))
            yield pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])


def _in_json(reader: AvroTexts) -> Callable[[pa.Array], pa.Array]:
    def read(raw: pa.Array) -> pa.Array:
        return pc.if_else(raw.is_valid(), reader.read(raw).fill_null(b""), None)

    return read


def in_avro(frame: DataFrame, sink: Source, registry: SqlRegistry) -> DataFrame:
    """What a turn has made, with the JSON of the records of ``sink`` turned into Avro."""
    if not any(sink.avro):
        return frame
    avro_keys, avro_values = sink.avro
    keys = key_records(registry, sink) if avro_keys and sink.keys else None
    values = value_records(registry, sink) if avro_values else None
    stage = _WriteAvro(sink.topic, keys, values, sink.window_bytes)
    return frame.mapInArrow(stage, frame.schema)


@dataclass(frozen=True)
class _WriteAvro:
    topic: str
    keys: AvroRecords | None
    values: AvroRecords | None
    window_bytes: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            mine = pc.and_(pc.equal(batch.column("topic"), self.topic), _good(batch))
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            if self.keys is not None:
                columns["key"] = _changed(columns["key"], mine, self._key)
            if self.values is not None:
                columns["value"] = _changed(columns["value"], mine, self.values.write)
            yield pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])

    def _key(self, json: pa.Array) -> pa.Array:
        assert self.keys is not None  # noqa: S101 (asked only if there are some)
        if not self.window_bytes:
            return self.keys.write(json)
        plain = self.keys.write(pc.binary_slice(json, 0, -self.window_bytes))
        ends = pc.binary_slice(json, -self.window_bytes, None)
        return pc.binary_join_element_wise(plain, ends, b"")


def _good(batch: pa.RecordBatch) -> pa.Array:
    """What is not skipped: a row that is keeps its record as it was."""
    return batch.column("error").is_null()


def _changed(column: pa.Array, mine: pa.Array, write: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """``column`` with what ``write`` makes of the rows that are ``mine``."""
    written = write(pc.if_else(mine, column, None))
    return pc.if_else(mine, written, column)
