"""Headers of whole batches: added to every row, and taken out by name."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyarrow import compute

from penstock.sdk.batches import HEADERS

_HEADER = HEADERS.value_type


def with_headers(headers: pa.Array, names: list[str], values: list[pa.Array]) -> pa.Array:
    """After the headers that each row has, one of each name; ``values`` has a column for each."""
    rows, more = len(headers), len(names)
    counts = _counts(headers)
    offsets = np.concatenate([[0], np.cumsum(counts + more)])
    order = np.arange(offsets[-1])
    new = np.zeros(len(order), bool)
    for n in range(more):
        new[offsets[1:] - more + n] = True
    old = compute.list_flatten(headers)
    order[~new] = np.arange(len(old))
    # The new ones lie name by name, and are wanted row by row.
    order[new] = len(old) + np.arange(rows * more).reshape(more, rows).T.ravel()
    added = [_headers(name, column, rows) for name, column in zip(names, values, strict=True)]
    items = pa.concat_arrays([old, *added]).take(pa.array(order))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, type=HEADERS)


def without_headers(headers: pa.Array, names: list[str]) -> pa.Array:
    """Without headers of these names; null where none is left."""
    if headers.null_count == len(headers):
        return headers
    items = compute.list_flatten(headers)
    keys = compute.struct_field(items, "key")
    kept = compute.invert(compute.is_in(keys, pa.array(names, pa.string())))
    rows = np.asarray(compute.list_parent_indices(headers).filter(kept))
    counts = np.bincount(rows, minlength=len(headers))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()),
        items.filter(kept),
        type=HEADERS,
        mask=pa.array(counts == 0),
    )


def _counts(headers: pa.Array) -> np.ndarray:
    return np.asarray(compute.list_value_length(headers).fill_null(0)).astype(np.int64)


def _headers(name: str, values: pa.Array, rows: int) -> pa.Array:
    keys = pa.repeat(pa.scalar(name, pa.string()), rows)
    return pa.StructArray.from_arrays([keys, values.cast(pa.binary())], fields=list(_HEADER))
