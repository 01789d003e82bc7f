"""Values of headers by a header converter, where that writes something else than plain text.

In a batch, the value of a header is the text that SimpleHeaderConverter writes, or bytes. That text
has a type (``penstock.sdk.header_values``), which a converter like JsonConverter writes, and reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from pyarrow import compute

from penstock.sdk.batches import HEADERS
from penstock.sdk.converters import Converter
from penstock.sdk.errors import RecordError
from penstock.sdk.header_values import header_bytes, header_text, read_header
from penstock.sdk.packing import column
from penstock.sdk.schema import Schema, from_field, is_schemaless

Changes = Callable[[list[bytes]], list[bytes | None]]
"""Different values of headers to what takes their places; a RecordError names one of them."""


@dataclass(frozen=True)
class TypedHeaders:
    """Both ways. Picklable; ``RecordError`` names a row of the batch."""

    converter: Converter

    def encode(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Source side: from text to what the converter writes."""
        return _changed(batch, self._written)

    def decode(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Sink side: from what the converter reads to text."""
        return _changed(batch, self._read)

    def _written(self, values: list[bytes]) -> list[bytes | None]:
        by_schema: dict[Schema | None, list[tuple[int, Any]]] = {}
        for place, data in enumerate(values):
            schema, value = read_header(data)
            by_schema.setdefault(schema, []).append((place, value))
        made: list[bytes | None] = [None] * len(values)
        for schema, found in by_schema.items():
            places = [place for place, _ in found]
            try:
                array, field = column("header", schema, [value for _, value in found])
                encoded = self.converter.encode(array, field).to_pylist()
            except RecordError as error:
                error.row = places[error.row]
                raise
            for place, data in zip(places, encoded, strict=True):
                made[place] = data
        return made

    def _read(self, values: list[bytes]) -> list[bytes | None]:
        runs = self.converter.decode(pa.array(values, pa.binary()))
        made: list[bytes | None] = []
        for run in runs:
            schema, found = _typed(run.array, run.field)
            made += [_text(schema, value) for value in found]
        return made


def _typed(array: pa.Array, field: pa.Field) -> tuple[Schema | None, list[Any]]:
    if pa.types.is_null(field.type):
        return None, array.to_pylist()
    if is_schemaless(field):
        texts = array.storage.to_pylist()
        return None, [None if text is None else orjson.loads(text) for text in texts]
    return from_field(field), array.to_pylist(maps_as_pydicts="strict")


def _text(schema: Schema | None, value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return header_bytes(value)
    text = header_text(schema, value)
    return None if text is None else text.encode()


def _changed(batch: pa.RecordBatch, changes: Changes) -> pa.RecordBatch:
    """Each different value is changed once, however many records have it."""
    at = batch.schema.get_field_index("headers")
    headers = batch.column(at)
    if headers.null_count == len(headers):
        return batch
    items = compute.list_flatten(headers)
    keys, values = compute.struct_field(items, "key"), compute.struct_field(items, "value")
    coded = values.dictionary_encode()
    try:
        made = pa.array(changes(coded.dictionary.to_pylist()), pa.binary())
    except RecordError as error:
        item = compute.index(coded.indices, error.row).as_py()
        error.row = compute.list_parent_indices(headers)[item].as_py()
        raise
    pairs = pa.StructArray.from_arrays(
        [keys, made.take(coded.indices)], fields=list(HEADERS.value_type)
    )
    lengths = np.asarray(compute.list_value_length(headers).fill_null(0))
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    whole = pa.ListArray.from_arrays(offsets, pairs, type=HEADERS, mask=headers.is_null())
    return batch.set_column(at, batch.schema.field(at), whole)
