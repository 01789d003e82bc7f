"""Values of Arrow batches as Python objects."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from penstock.sdk.schema import is_schemaless


def values_in(batch: pa.RecordBatch) -> list[Any]:
    """The values of a batch of records."""
    column, field = batch.column("value"), batch.schema.field("value")
    if is_schemaless(field) and isinstance(column, pa.ExtensionArray):
        texts = column.storage.to_pylist()
        return [None if text is None else json.loads(text) for text in texts]
    values: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    return values
