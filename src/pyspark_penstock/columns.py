"""Records of a connector as Spark takes them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from penstock.sdk.batches import COLUMNS
from pyspark_penstock.options import OptionError

Nested = (pa.StructType, pa.ListType, pa.LargeListType)


def shaped(
    batch: pa.RecordBatch, *, key: pa.Array | None = None, value: pa.Array | None = None
) -> pa.RecordBatch:
    """The columns of ``penstock.sdk.batches`` in types that Spark has; other keys and values."""
    given = {"key": key, "value": value}
    arrays = [
        _plain(name, found if (found := given.get(name)) is not None else batch.column(name))
        for name in COLUMNS
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))


def _plain(name: str, column: pa.Array) -> pa.Array:
    if name == "timestamp":
        return column.cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    if pa.types.is_null(column.type):
        return column.cast(pa.string())  # Spark's files have no column that is always null
    return column


def fitted(batch: pa.RecordBatch, schema: StructType) -> pa.RecordBatch:
    """``batch`` with the columns of ``schema``, by name; OptionError if a value does not fit."""
    wanted = to_arrow_schema(schema)
    if unknown := [name for name in wanted.names if name not in batch.schema.names]:
        raise OptionError(
            f"there is no column {unknown[0]}: records have {', '.join(batch.schema.names)}"
        )
    arrays = [_fitted(batch.column(field.name), field.type, field.name) for field in wanted]
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _fitted(column: pa.Array, kind: pa.DataType, where: str) -> pa.Array:
    """Fields of structures by name: those that the records lack are null, others are left out."""
    if column.type.equals(kind):
        return column
    if pa.types.is_struct(kind) and pa.types.is_struct(column.type):
        return _struct(column, kind, where)
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise OptionError(
            f"a record has {column.type} in {where}, where the frame has {kind}: give the columns "
            'with .schema(...), or read bytes with .option("values", "bytes")'
        ) from None


def _struct(column: pa.Array, kind: pa.StructType, where: str) -> pa.Array:
    known = {field.name for field in column.type}
    fields = [
        _fitted(pc.struct_field(column, [field.name]), field.type, f"{where}.{field.name}")
        if field.name in known
        else pa.nulls(len(column), field.type)
        for field in kind
    ]
    return pa.StructArray.from_arrays(fields, fields=list(kind), mask=column.is_null())
