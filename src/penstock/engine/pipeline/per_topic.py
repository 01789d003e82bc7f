"""Keys or values as bytes, topic by topic where the converter needs to know the topic."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.sdk.converters import Converter
from penstock.sdk.errors import RecordError


def encoded_column(converter: Converter, batch: pa.RecordBatch, side: str) -> pa.Array:
    """The column ``side`` as bytes; RecordError names a row of ``batch``."""
    column, field = batch.column(side), batch.schema.field(side)
    if not converter.per_topic or not batch.num_rows:
        return converter.encode(column, field)
    topics = batch.column("topic").cast(pa.string())
    names = pc.unique(topics).to_pylist()
    if len(names) == 1:
        return converter.encode_for(names[0], column, field)
    return _of_many(converter, topics, names, column, field)


def _of_many(
    converter: Converter, topics: pa.Array, names: list[str], column: pa.Array, field: pa.Field
) -> pa.Array:
    order, parts = [], []
    for name in names:
        rows = np.flatnonzero(pc.equal(topics, name).to_numpy(zero_copy_only=False))
        try:
            parts.append(converter.encode_for(name, column.take(pa.array(rows)), field))
        except RecordError as error:
            error.row = int(rows[error.row])
            raise
        order.append(rows)
    return pa.concat_arrays(parts).take(pa.array(np.argsort(np.concatenate(order))))
