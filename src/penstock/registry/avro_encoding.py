"""Arrow columns to Avro's binary encoding, a whole column at a time.

A record in Avro is its fields one after the other, so the bytes of many records are made by
joining the bytes of their columns. Every function here returns a binary array with a null where
the input has one. The Avro schema is the one that ``AvroWriter`` makes of the same schema.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columnar.json_text import Misfit, unscaled_bytes
from penstock.sdk.schema import DECIMAL, Schema, SchemaType

_END: Final = b"\0"
"""Of an array or a map: a block without items."""
_FIRST, _SECOND = b"\0", b"\x02"
"""Which type of a union follows."""


def encoded(array: pa.Array, schema: Schema, head: bytes) -> pa.Array:
    """Rows with ``head`` before each; null stays null, whatever the schema.

    ``array`` has numbers for dates and times. Misfit if a row does not fit the schema.
    """
    return _joined(pa.scalar(head, pa.binary()), _chosen(_there(array, schema), schema))


def _inner(array: pa.Array, schema: Schema, allowed_nulls: int) -> pa.Array:
    """What is inside of something else, of whose rows so many are null themselves."""
    data = _there(array, schema)
    if schema.optional:
        null = _FIRST if schema.default is None else _SECOND
        return _chosen(data, schema).fill_null(null)
    if array.null_count > allowed_nulls:
        raise Misfit("a null is not allowed here")
    return data


def _chosen(data: pa.Array, schema: Schema) -> pa.Array:
    """With the mark of the type that is not null, if there is a union."""
    if not schema.optional:
        return data
    return _joined(_SECOND if schema.default is None else _FIRST, data)


def _there(array: pa.Array, schema: Schema) -> pa.Array:
    match schema.type:
        case SchemaType.STRUCT:
            return _struct(array, schema)
        case SchemaType.ARRAY:
            array = _compact(array)
            items = _inner(array.values, schema.value_schema or schema, 0)
            return _blocks(array, items)
        case SchemaType.MAP:
            array = _compact(array)
            keys = _inner(array.keys, schema.key_schema or schema, 0)
            return _blocks(
                array, _joined(keys, _inner(array.items, schema.value_schema or schema, 0))
            )
        case SchemaType.BYTES if schema.logical == DECIMAL:
            return _sized(unscaled_bytes(array))
        case _:
            return _blanked(_WRITERS[schema.type](array), array)


def _struct(array: pa.Array, schema: Schema) -> pa.Array:
    columns = zip(schema.fields.values(), array.flatten(), strict=True)
    parts = [_inner(column, inner, array.null_count) for inner, column in columns]
    if not parts:
        return _blanked(pa.array([b""] * len(array), pa.binary()), array)
    return _blanked(_joined(*parts), array)


def _blocks(array: pa.Array, items: pa.Array) -> pa.Array:
    """One block of all items, and the end."""
    lengths = np.diff(array.offsets.to_numpy())
    counts = pc.if_else(pa.array(lengths > 0), varints(lengths), pa.scalar(b"", pa.binary()))
    joined = pc.binary_join(pa.ListArray.from_arrays(array.offsets, items), b"")
    return _blanked(_joined(counts, joined, _END), array)


def _compact(array: pa.Array) -> pa.Array:
    """The same rows with nothing unreferenced: offsets and values can be taken apart."""
    return array.take(pa.array(np.arange(len(array))))


def _joined(*parts: Any) -> pa.Array:
    return pc.binary_join_element_wise(*parts, b"")


def _blanked(data: pa.Array, like: pa.Array) -> pa.Array:
    return pc.if_else(like.is_valid(), data, None) if like.null_count else data


def varints(numbers: npt.NDArray[Any]) -> pa.Array:
    """Integers in as many bytes as each needs, small ones in one, negative ones too."""
    wide = numbers.astype(np.int64)
    zigzag = ((wide << 1) ^ (wide >> 63)).view(np.uint64)
    sizes = np.ones(len(zigzag), np.int32)
    for shift in range(7, 64, 7):
        sizes += zigzag >= np.uint64(1 << shift)
    offsets = np.zeros(len(zigzag) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    data = np.zeros(offsets[-1], np.uint8)
    for place in range(int(sizes.max(initial=0))):
        rows = sizes > place
        bits = (zigzag[rows] >> np.uint64(7 * place)).astype(np.uint8) & 0x7F
        data[offsets[:-1][rows] + place] = bits | ((sizes[rows] > place + 1) << 7)
    return _binary(offsets, data)


def _integers(array: pa.Array) -> pa.Array:
    return varints(array.fill_null(0).to_numpy(zero_copy_only=False))


def _sized(array: pa.Array) -> pa.Array:
    """The length of each, and the bytes."""
    lengths = pc.binary_length(array).fill_null(0).to_numpy(zero_copy_only=False)
    return _joined(varints(lengths), array)


def _texts(array: pa.Array) -> pa.Array:
    return _sized(array.cast(pa.binary()))


def _booleans(array: pa.Array) -> pa.Array:
    return _fixed(array.fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint8))


def _floats(kind: str) -> Callable[[pa.Array], pa.Array]:
    return lambda array: _fixed(array.fill_null(0).to_numpy(zero_copy_only=False).astype(kind))


def _fixed(numbers: npt.NDArray[Any]) -> pa.Array:
    size = numbers.dtype.itemsize
    offsets = np.arange(0, size * (len(numbers) + 1), size, dtype=np.int32)
    return _binary(offsets, np.ascontiguousarray(numbers).view(np.uint8))


def _binary(offsets: npt.NDArray[np.int32], data: npt.NDArray[np.uint8]) -> pa.Array:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


_WRITERS: Final[dict[SchemaType, Callable[[pa.Array], pa.Array]]] = {
    SchemaType.INT8: _integers,
    SchemaType.INT16: _integers,
    SchemaType.INT32: _integers,
    SchemaType.INT64: _integers,
    SchemaType.FLOAT32: _floats("<f4"),
    SchemaType.FLOAT64: _floats("<f8"),
    SchemaType.BOOLEAN: _booleans,
    SchemaType.STRING: _texts,
    SchemaType.BYTES: _texts,
}
