"""Transforms that are functions: over a batch, or over one record at a time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import orjson
import pyarrow as pa

from penstock.sdk.batches import record_batch
from penstock.sdk.config import ConfigDef
from penstock.sdk.errors import PenstockError, RecordError
from penstock.sdk.packing import column, header_column, topic_column
from penstock.sdk.records import Headers
from penstock.sdk.schema import Schema, from_field, is_schemaless
from penstock.sdk.transforms import Transform


@dataclass(frozen=True)
class TransformRecord:
    """One record on its way. ``dataclasses.replace`` makes a changed one.

    With a schema, a value is what ``SourceRecord`` takes; without one, what its JSON holds. A value
    of another shape needs another schema, or None.
    """

    topic: str
    value: Any
    value_schema: Schema | None = None
    key: Any = None
    key_schema: Schema | None = None
    partition: int | None = None
    timestamp: int | None = None
    headers: Headers = ()
    offset: int | None = None
    """Of a sink's record; it stays what it is."""


BatchFunction: TypeAlias = Callable[..., pa.RecordBatch]
"""A batch, and the settings if it takes two arguments, to a batch as ``Transform.apply`` wants."""
RecordFunction: TypeAlias = Callable[..., TransformRecord | None]
"""A record, and the settings if it takes two arguments, to a record; None drops it."""


def batch_transform(
    config: ConfigDef | None = None,
) -> Callable[[BatchFunction], type[Transform]]:
    """Makes a transform of a function over Arrow batches, to be named in an entry point.

    ``config`` describes its keys, which the function gets parsed, as its second argument.
    """
    return lambda function: _made(_OverBatches, function, config)


def record_transform(
    config: ConfigDef | None = None,
) -> Callable[[RecordFunction], type[Transform]]:
    """As ``batch_transform``, of a function over single records, which is much slower.

    Whatever the function raises is the error of that record.
    """
    return lambda function: _made(OverRecords, function, config)


def _made(base: type[_Function], function: Callable[..., Any], config: ConfigDef | None) -> Any:
    """A class in place of the function, under its name, so that it can be pickled."""
    return type(
        function.__name__,
        (base,),
        {
            "__module__": function.__module__,
            "__qualname__": function.__qualname__,
            "__doc__": function.__doc__,
            "config_def": ConfigDef() if config is None else config,
            "function": staticmethod(function),
            "takes_settings": len(inspect.signature(function).parameters) > 1,
        },
    )


class _Function(Transform):
    function: ClassVar[Callable[..., Any]]
    takes_settings: ClassVar[bool]

    def configure(self, config: Mapping[str, str]) -> None:
        settings = self.config_def.parse(config)
        self._settings: tuple[Any, ...] = (settings,) if self.takes_settings else ()


class _OverBatches(_Function):
    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        made: pa.RecordBatch = self.function(batch, *self._settings)
        return made


class OverRecords(_Function):
    """A function applied to each record."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        parts = self.parts(batch)
        if len(parts) > 1:
            row = int(parts[1][0][0])
            raise RecordError("The record has another schema than those before it.", row=row)
        return parts[0][1] if parts else batch.slice(0, 0)

    def parts(self, batch: pa.RecordBatch) -> list[tuple[np.ndarray, pa.RecordBatch]]:
        """What is left, in a batch for each schema, with the rows that its records had."""
        groups: dict[tuple[Schema | None, Schema | None], list[tuple[int, TransformRecord]]] = {}
        for row, record in enumerate(_records(batch)):
            made = self._changed(record, row)
            if made is not None:
                groups.setdefault((made.key_schema, made.value_schema), []).append((row, made))
        return [_batch(batch, group) for group in groups.values()]

    def _changed(self, record: TransformRecord, row: int) -> TransformRecord | None:
        try:
            made = self.function(record, *self._settings)
        except RecordError as error:
            error.row = row
            raise
        except PenstockError:
            raise
        except Exception as error:
            name = type(self).__name__
            raise RecordError(f"{name} raised {type(error).__name__}: {error}", row=row) from error
        if made is None or isinstance(made, TransformRecord):
            return made
        text = f"{type(self).__name__} returned {type(made).__name__}, and not a TransformRecord"
        raise RecordError(f"{text} or None.", row=row)


def _records(batch: pa.RecordBatch) -> Iterator[TransformRecord]:
    keys, values = _side(batch, "key"), _side(batch, "value")
    offsets = batch.column("offset").to_pylist() if "offset" in batch.schema.names else None
    others = [batch.column(c).to_pylist() for c in ("topic", "partition", "timestamp", "headers")]
    for row, (topic, partition, timestamp, headers) in enumerate(zip(*others, strict=True)):
        yield TransformRecord(
            topic,
            values[1][row],
            values[0],
            keys[1][row],
            keys[0],
            partition,
            timestamp,
            tuple((each["key"], each["value"]) for each in headers or ()),
            None if offsets is None else offsets[row],
        )


def _side(batch: pa.RecordBatch, name: str) -> tuple[Schema | None, list[Any]]:
    """The schema and the values of keys, or of values."""
    field, array = batch.schema.field(name), batch.column(name)
    if pa.types.is_null(field.type):
        return None, [None] * len(array)
    if is_schemaless(field):
        texts = array.storage.to_pylist()
        return None, [None if text is None else orjson.loads(text) for text in texts]
    return from_field(field), array.to_pylist(maps_as_pydicts="strict")


def _batch(
    before: pa.RecordBatch, group: list[tuple[int, TransformRecord]]
) -> tuple[np.ndarray, pa.RecordBatch]:
    rows, records = np.array([row for row, _ in group]), [record for _, record in group]
    try:
        key, key_field = column("key", records[0].key_schema, [r.key for r in records])
        value, value_field = column("value", records[0].value_schema, [r.value for r in records])
    except RecordError as error:
        error.row = int(rows[error.row])
        raise
    made = record_batch(
        topic_column([r.topic for r in records]),
        value,
        key=key,
        key_field=key_field,
        value_field=value_field,
        partition=pa.array([r.partition for r in records], pa.int32()),
        timestamp=pa.array([r.timestamp for r in records], pa.int64()),
        headers=header_column([r.headers for r in records]),
        offset=before.column("offset").take(rows) if "offset" in before.schema.names else None,
    )
    return rows, made
