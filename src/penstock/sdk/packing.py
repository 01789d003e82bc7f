"""Rows to Arrow: what a connector returned record by record, as batches."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any, Final

import orjson
import pyarrow as pa

from penstock.sdk.batches import HEADERS, SourceBatch, record_batch
from penstock.sdk.errors import RecordError
from penstock.sdk.header_values import header_bytes
from penstock.sdk.offsets import SourceOffset, SourcePartition, canonical
from penstock.sdk.records import Headers, SourceRecord
from penstock.sdk.schema import (
    DATE,
    DECIMAL,
    SCHEMALESS,
    TIME,
    TIMESTAMP,
    Schema,
    SchemaType,
    to_field,
)


def pack(records: Sequence[SourceRecord]) -> list[SourceBatch]:
    """Batches with the same records in the same order, each batch with one schema.

    A batch's offsets are the last of each source partition in it. Raises ``RecordError`` for the
    first value that does not fit its schema; its row counts from the start of ``records``.
    """
    batches: list[SourceBatch] = []
    start = 0
    for _, group in groupby(records, lambda r: (r.key_schema, r.value_schema)):
        run = list(group)
        batches.append(_batch(run, start))
        start += len(run)
    return batches


def _batch(run: list[SourceRecord], start: int) -> SourceBatch:
    key, key_field = column("key", run[0].key_schema, [r.key for r in run], start)
    value, value_field = column("value", run[0].value_schema, [r.value for r in run], start)
    records = record_batch(
        topic_column([r.topic for r in run]),
        value,
        key=key,
        key_field=key_field,
        value_field=value_field,
        partition=pa.array([r.kafka_partition for r in run], pa.int32()),
        timestamp=pa.array([r.timestamp for r in run], pa.int64()),
        headers=header_column([r.headers for r in run]),
    )
    return SourceBatch(records, _last_offsets(run))


def topic_column(topics: list[str]) -> str | pa.Array:
    """The topic, where it is the same for all: then it takes no time per record."""
    same = topics.count(topics[0]) == len(topics)
    return topics[0] if same else pa.array(topics).dictionary_encode()


def header_column(rows: Sequence[Headers]) -> pa.Array | None:
    """The headers of each record, their values as bytes; None if there are none at all."""
    if not any(rows):
        return None
    made = [[{"key": k, "value": header_bytes(v)} for k, v in row] or None for row in rows]
    return pa.array(made, HEADERS)


def _last_offsets(run: list[SourceRecord]) -> list[tuple[SourcePartition, SourceOffset]]:
    # Most records of a run share the object that names their partition: compare that first.
    rows = {id(record.source_partition): row for row, record in enumerate(run)}
    last: dict[str, tuple[SourcePartition, SourceOffset]] = {}
    for record in (run[row] for row in sorted(rows.values())):
        last[canonical(record.source_partition)] = (record.source_partition, record.source_offset)
    return list(last.values())


def column(
    name: str, schema: Schema | None, values: list[Any], start: int = 0
) -> tuple[pa.Array, pa.Field]:
    """Values of one schema as an Arrow array and its field; errors as those of ``pack``."""
    if schema is None:
        return pa.array(list(_json_texts(name, values, start)), SCHEMALESS.type), SCHEMALESS
    field = to_field(schema, name)
    try:
        return _array(schema, field, values), field
    except _Misfit:
        row, misfit = next(_misfits(schema, field, values))
        raise RecordError(f"{misfit} (row {start + row})", row=start + row) from None


def _json_texts(name: str, values: list[Any], start: int) -> Iterator[str | None]:
    for row, value in enumerate(values, start):
        try:
            yield None if value is None else orjson.dumps(value).decode()
        except TypeError as error:
            message = f'Invalid value for field "{name}": it has no schema and {error} (row {row})'
            raise RecordError(message, row=row) from None


class _Misfit(Exception):  # noqa: N818 (never leaves this module)
    """A value does not fit its schema; says which field and why, but not in which row."""


def _array(schema: Schema, field: pa.Field, values: list[Any]) -> pa.Array:
    _check(schema, [value for value in values if value is not None], field.name)
    try:
        return pa.array(values, field.type)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        raise _Misfit(f'Invalid value for field "{field.name}": {error}') from None


def _misfits(schema: Schema, field: pa.Field, values: list[Any]) -> Iterator[tuple[int, _Misfit]]:
    for row, value in enumerate(values):
        try:
            _array(schema, field, [value])
        except _Misfit as misfit:
            yield row, misfit


def _check(schema: Schema, values: list[Any], path: str) -> None:
    """Values of one field, without null, against its schema: whole columns at a time."""
    for found in set(map(type, values)):
        if not _allowed(schema, found):
            kind = schema.logical or schema.type
            raise _Misfit(f'Invalid value for field "{path}": {found.__name__} does not fit {kind}')
    inner = _INNER.get(schema.type)
    if inner is not None:
        inner(schema, values, path)


def fits(schema: Schema, value: Any) -> bool:
    """Whether ``value`` is of a type that ``schema`` allows, whatever is inside of it."""
    return _allowed(schema, type(value))


def _allowed(schema: Schema, found: type) -> bool:
    allowed = _PYTHON_TYPES[schema.logical or schema.type]
    return issubclass(found, allowed) and not (found is bool and bool not in allowed)


def _check_inner(schema: Schema | None, values: list[Any], path: str) -> None:
    if schema is None:
        return
    there = [value for value in values if value is not None]
    if len(there) < len(values) and not schema.optional and schema.default is None:
        message = f'Invalid value: null used for required field: "{path}"'
        raise _Misfit(f"{message}, schema type: {schema.type}")
    _check(schema, there, path)


def _check_array(schema: Schema, values: list[Any], path: str) -> None:
    _check_inner(schema.value_schema, [item for value in values for item in value], f"{path}[]")


def _check_map(schema: Schema, values: list[Any], path: str) -> None:
    _check_inner(schema.key_schema, [k for value in values for k in value], f"{path}[key]")
    _check_inner(schema.value_schema, [v for value in values for v in value.values()], f"{path}[]")


def _check_struct(schema: Schema, values: list[Any], path: str) -> None:
    unknown = set().union(*values) - schema.fields.keys()
    if unknown:
        raise _Misfit(f'Invalid value for field "{path}": {min(map(str, unknown))} is not a field')
    for name, inner in schema.fields.items():
        _check_inner(inner, [value.get(name) for value in values], f"{path}.{name}")


_INNER: Final[dict[SchemaType, Callable[[Schema, list[Any], str], None]]] = {
    SchemaType.ARRAY: _check_array,
    SchemaType.MAP: _check_map,
    SchemaType.STRUCT: _check_struct,
}

_PYTHON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    SchemaType.INT8: (int,),
    SchemaType.INT16: (int,),
    SchemaType.INT32: (int,),
    SchemaType.INT64: (int,),
    SchemaType.FLOAT32: (float, int),
    SchemaType.FLOAT64: (float, int),
    SchemaType.BOOLEAN: (bool,),
    SchemaType.STRING: (str,),
    SchemaType.BYTES: (bytes, bytearray, memoryview),
    SchemaType.ARRAY: (list, tuple),
    SchemaType.MAP: (dict,),
    SchemaType.STRUCT: (dict,),
    DECIMAL: (Decimal, int),
    DATE: (dt.date, int),
    TIME: (dt.time, int),
    TIMESTAMP: (dt.datetime, int),
}
