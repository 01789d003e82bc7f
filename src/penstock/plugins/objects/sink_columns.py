"""The chosen fields of a batch as columns, for formats that have a schema."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.objects.sink_config import SinkSettings
from penstock.sdk.schema import Schema, to_field

INSTANT = pa.timestamp("ms", "UTC")
JSON: Final = Schema.string(optional=True, name="penstock.Json")
"""Of a value without a schema, which is written as JSON text."""


def chosen_columns(batch: pa.RecordBatch, settings: SinkSettings) -> pa.Table:
    """Values without a schema as JSON text; timestamps as such.

    Without an envelope, the fields of a value that is a struct are the columns.
    """
    fields = [_field(batch, name) for name in settings.fields]
    columns = [_column(batch, name) for name in settings.fields]
    if not settings.envelope and pa.types.is_struct(columns[0].type):
        kind = columns[0].type
        fields, columns = [kind.field(n) for n in range(kind.num_fields)], columns[0].flatten()
        # A value that is null as a whole has none of its fields.
        fields = [each.with_nullable(True) for each in fields]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _field(batch: pa.RecordBatch, name: str) -> pa.Field:
    found = batch.schema.field(name)
    if isinstance(found.type, pa.JsonType):
        return to_field(JSON, name)
    return found.with_type(INSTANT) if name == "timestamp" else found


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    column = batch.column(name)
    if isinstance(column.type, pa.JsonType):
        return column.storage
    return pc.cast(column, INSTANT) if name == "timestamp" else column
