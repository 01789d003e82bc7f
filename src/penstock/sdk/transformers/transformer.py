"""The seam between the bytes of an object and the records made of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO, ClassVar, Final, NamedTuple

import orjson
import pyarrow as pa

from penstock.sdk.batches import record_batch
from penstock.sdk.config import ConfigDef
from penstock.sdk.errors import RecordError
from penstock.sdk.objects import ObjectContext
from penstock.sdk.packing import column
from penstock.sdk.schema import Schema, from_field, is_schemaless
from penstock.sdk.sources.offset_entries import SchemaAndValue
from penstock.sdk.transformers.parts import in_parts

ROWS: Final = 5000
"""How many records make a batch, where they are made one by one."""

KEY_SCHEMA: Final = Schema.bytes(optional=True)

OnBad = Callable[[RecordError, bytes], None]
"""Takes a record that cannot be read, with its bytes as far as they are known."""


class TransformedRecord(NamedTuple):
    """One record of an object."""

    key: SchemaAndValue
    value: SchemaAndValue
    position: int
    """How many records of the object are behind us with this one, bad ones included."""


@dataclass(frozen=True)
class TransformedColumns:
    """Consecutive records of an object, as columns."""

    value: pa.Array
    value_field: pa.Field
    position: int
    """As ``TransformedRecord.position``, of the last one."""

    def record_batch(self, topic: str, key: bytes | None = None) -> pa.RecordBatch:
        """With one topic and one key for all records."""
        keys = None if key is None else pa.repeat(pa.scalar(key, pa.binary()), len(self.value))
        return record_batch(topic, self.value, key=keys, value_field=self.value_field)


@dataclass(frozen=True)
class RestoredColumns(TransformedColumns):
    """As ``TransformedColumns``, of a format that also says what else belongs to each record."""

    key: pa.Array
    key_field: pa.Field
    timestamp: pa.Array
    headers: pa.Array


class Transformer(ABC):
    """Makes records of one object's bytes, lazily: about a block of it is in memory at a time.

    ``configure`` is called once, ``records`` or ``columns`` once for each object. Implement
    ``records``, or ``columns`` by deriving from ``ArrowTransformer``; the other one follows.

    ``stream`` is read from its beginning with ``read(n)``; what it raises passes through. ``skip``
    records, bad ones counted, were delivered before: they are read and not given again. A record
    that cannot be read is passed to ``bad``, and reading goes on; without ``bad`` its
    ``RecordError`` is raised, with its position as ``row`` and its bytes as ``data``. Where the
    rest of the object cannot be read, ``ObjectError`` says behind which record; what is before it
    is given before, and nothing ends as if the object were complete.
    """

    config_def: ClassVar[ConfigDef] = ConfigDef()
    """Its keys, which the connector adds to its own."""

    def configure(self, config: Mapping[str, str]) -> None:
        """Called once, before anything else. Raises ``ConfigError``."""
        self.settings: dict[str, Any] = self.config_def.parse(config)

    def key(self, context: ObjectContext) -> SchemaAndValue:
        """The key of every record of an object: its name, unless a format knows better."""
        return SchemaAndValue(KEY_SCHEMA, context.name.encode())

    @abstractmethod
    def records(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedRecord]:
        """The records one by one."""

    def columns(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedColumns]:
        """The same records, many at a time."""
        records = self.records(stream, context, skip, bad)
        for rows in in_parts(records, ROWS):
            for (schema, _), group in groupby(enumerate(rows), _run):
                run = [row for _, row in group]
                array, field = column("value", schema, [row.value.value for row in run])
                yield TransformedColumns(array, field, run[-1].position)


def _run(numbered: tuple[int, TransformedRecord]) -> tuple[Schema | None, int]:
    """The same for records of one schema that follow each other without a bad one in between."""
    index, record = numbered
    return record.value.schema, record.position - index


class ArrowTransformer(Transformer):
    """One that makes columns to begin with."""

    @abstractmethod
    def columns(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedColumns]:
        """The records, many at a time."""

    def records(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedRecord]:
        """The same records one by one."""
        key = self.key(context)
        for found in self.columns(stream, context, skip, bad):
            schema, values = from_field(found.value_field), python_values(found)
            first = found.position - len(values) + 1
            for position, value in enumerate(values, first):
                yield TransformedRecord(key, SchemaAndValue(schema, value), position)


def python_values(found: TransformedColumns) -> list[Any]:
    """The values as ``SourceRecord`` holds them."""
    if is_schemaless(found.value_field):
        texts = found.value.storage.to_pylist()
        return [None if text is None else orjson.loads(text) for text in texts]
    values: list[Any] = found.value.to_pylist(maps_as_pydicts="strict")
    return values


def bad_record(context: ObjectContext, position: int, why: str) -> RecordError:
    """The error for one record; ``position`` counts from 1."""
    return RecordError(f"Record {position} of object {context.name}: {why}", row=position)


def tolerate(bad: OnBad | None, error: RecordError, data: bytes) -> None:
    """Hand ``error`` over, or raise it where nothing takes bad records."""
    if bad is None:
        error.data = data
        raise error
    bad(error, data)
