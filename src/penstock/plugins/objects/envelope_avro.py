"""Records from the envelopes of ``avro`` objects. Needs the extra ``avro``."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO, Final

import pyarrow as pa

from penstock.plugins.objects.envelope_columns import restored
from penstock.plugins.objects.sink_avro import STORED_SCHEMA
from penstock.sdk.batches import HEADERS
from penstock.sdk.objects import ObjectContext
from penstock.sdk.packing import column
from penstock.sdk.schema import Schema, SchemaType, from_field, to_field
from penstock.sdk.transformers.avro_objects import AvroFile, AvroTransformer
from penstock.sdk.transformers.parts import in_parts
from penstock.sdk.transformers.streams import CorruptStream, reading
from penstock.sdk.transformers.transformer import OnBad, TransformedColumns

ROWS: Final = 5000


class AvroEnvelopes(AvroTransformer):
    """The fields of each record are those of the envelope, or some of them.

    The object sink stores Connect's own schemas beside Avro's, which cannot say all that they do;
    in files of others, the schemas are what Avro's say.
    """

    def columns(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedColumns]:
        """Some thousand records at a time."""
        position = 0
        with reading(context, lambda: position):
            file = AvroFile(stream)
            schemas = _schemas(file)
            convert = file.mapped.convert
            values = file.values()
            for rows in in_parts(values, ROWS):
                first, position = position, position + len(rows)
                wanted = rows[max(0, skip - first) :]
                made = wanted if convert is None else [convert(row) for row in wanted]
                if made:
                    yield restored(_batch(schemas, made), position)


def _schemas(file: AvroFile) -> Mapping[str, Schema | None]:
    """Of each field."""
    stored = file.metadata.get(STORED_SCHEMA)
    if stored is None:
        return file.mapped.schema.fields
    try:
        read = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored)))
    except (ValueError, pa.ArrowException) as error:
        raise CorruptStream(f"its {STORED_SCHEMA} cannot be read ({error})") from None
    return {field.name: from_field(field) for field in read}


def _batch(schemas: Mapping[str, Schema | None], rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """Any field may be null in a row, whatever its schema says: that is a tombstone, say."""
    arrays, fields = [], []
    for name, schema in schemas.items():
        values = [row[name] for row in rows]
        array, field = _column(name, schema, values)
        arrays.append(array)
        fields.append(field)
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _column(name: str, schema: Schema | None, values: list[Any]) -> tuple[pa.Array, pa.Field]:
    if schema is None:
        return pa.nulls(len(values)), pa.field(name, pa.null())
    if name == "headers" and schema.type is SchemaType.ARRAY:
        return pa.array(values, HEADERS), pa.field(name, HEADERS)
    array, _ = column(name, replace(schema, optional=True), values)
    return array, to_field(schema, name)
