"""Records from the columns of ``avro`` and ``parquet`` objects, whose schemas they keep."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.objects.sink_columns import JSON
from penstock.plugins.objects.sink_config import ALL_FIELDS
from penstock.sdk.batches import HEADERS
from penstock.sdk.schema import SCHEMALESS, from_field
from penstock.sdk.transformers.parquet_rows import ParquetTransformer, as_held
from penstock.sdk.transformers.streams import CorruptStream
from penstock.sdk.transformers.transformer import RestoredColumns


class ParquetEnvelopes(ParquetTransformer):
    """The columns are the fields of the envelope, or some of them."""

    def made(self, rows: pa.RecordBatch, position: int) -> RestoredColumns:
        """CorruptStream if the file has other columns."""
        return restored(rows, position)


def restored(rows: pa.RecordBatch, position: int) -> RestoredColumns:
    """The records whose fields are the columns of ``rows``; CorruptStream if these are others."""
    others = [name for name in rows.schema.names if name not in ALL_FIELDS]
    if others or not rows.num_columns:
        which = f"a column {others[0]!r}" if others else "no column"
        raise CorruptStream(f"it has no envelopes but {which}, not {', '.join(ALL_FIELDS)}")
    key, key_field = _side(rows, "key")
    value, value_field = _side(rows, "value")
    return RestoredColumns(
        value, value_field, position, key, key_field, _times(rows), _headers(rows)
    )


def _side(rows: pa.RecordBatch, name: str) -> tuple[pa.Array, pa.Field]:
    if name not in rows.schema.names:
        return pa.nulls(rows.num_rows), pa.field(name, pa.null())
    column, field = as_held(rows.column(name), rows.schema.field(name))
    schema = from_field(field)
    if schema is not None and schema.name == JSON.name:
        return pa.ExtensionArray.from_storage(pa.json_(), column), SCHEMALESS.with_name(name)
    return column, field


def _times(rows: pa.RecordBatch) -> pa.Array:
    if "timestamp" not in rows.schema.names:
        return pa.nulls(rows.num_rows, pa.int64())
    column = rows.column("timestamp")
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", "UTC"), safe=False)
    return _cast(column, pa.int64(), "timestamp")


def _headers(rows: pa.RecordBatch) -> pa.Array:
    if "headers" not in rows.schema.names:
        return pa.nulls(rows.num_rows, HEADERS)
    column = rows.column("headers")
    if pa.types.is_map(column.type):  # as Aiven writes them
        column = column.cast(pa.map_(pa.string(), pa.binary()))
        return pa.array([_named(each) for each in column.to_pylist()], HEADERS)
    return _cast(column, HEADERS, "headers")


def _named(pairs: list[tuple[str, bytes]] | None) -> list[dict[str, object]] | None:
    return None if pairs is None else [{"key": key, "value": value} for key, value in pairs]


def _cast(column: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    try:
        return pc.cast(column, kind)
    except pa.ArrowException as error:
        raise CorruptStream(f"its column {name} cannot be restored ({error})") from None
