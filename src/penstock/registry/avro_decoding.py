"""Avro's binary encoding to Arrow columns, all rows at once.

Where a field begins depends on what is before it, so there is a place for each row, and all of
them move on together: field by field instead of row by row. Arrays, maps and rarer types are left
to fastavro, and so is every batch in which something is wrong: it finds the row.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.sdk.schema import DECIMAL, Schema, SchemaType, to_type

Rows = npt.NDArray[np.int64]
Read = Callable[["Places", Rows], pa.Array]
"""What the next field of these rows is; their places move behind it."""


class ByRow(Exception):  # noqa: N818 (asks for another way; no failure)
    """These schemas, or these bytes, have to be read row by row."""


class Places:
    """Where each row is read next, and where it ends."""

    def __init__(self, data: npt.NDArray[np.uint8], at: Rows, ends: Rows) -> None:
        self.data = data
        self.at = at
        self.ends = ends

    def take(self, rows: Rows, size: int) -> npt.NDArray[np.uint8]:
        """As many bytes of each row."""
        starts = self.at[rows]
        self._move(rows, starts + size)
        found: npt.NDArray[np.uint8] = self.data[starts[:, None] + np.arange(size)]
        return found

    def integers(self, rows: Rows) -> Rows:
        """A number of each row, in as many bytes as it has."""
        numbers, places = np.zeros(len(rows), np.uint64), self.at[rows]
        left = np.arange(len(rows))
        for shift in range(0, 64, 7):
            if (places[left] >= self.ends[rows[left]]).any():
                raise ByRow
            found = self.data[places[left]]
            numbers[left] |= (found & 0x7F).astype(np.uint64) << np.uint64(shift)
            places[left] += 1
            left = left[found >= 0x80]
            if not len(left):
                self.at[rows] = places
                return (numbers >> np.uint64(1)).view(np.int64) ^ -(numbers & 1).view(np.int64)
        raise ByRow

    def texts(self, rows: Rows) -> pa.Array:
        """Bytes of each row, with their length before them."""
        sizes = self.integers(rows)
        starts = self.at[rows]
        if (sizes < 0).any() or sizes.max(initial=0) > len(self.data):
            raise ByRow
        self._move(rows, starts + sizes)
        offsets = np.zeros(len(rows) + 1, np.int32)
        np.cumsum(sizes, out=offsets[1:])
        places = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.data[places])]
        return pa.Array.from_buffers(pa.binary(), len(rows), buffers)

    def _move(self, rows: Rows, to: Rows) -> None:
        if (to > self.ends[rows]).any():
            raise ByRow
        self.at[rows] = to


def decoded(read: Read, data: npt.NDArray[np.uint8], at: Rows, ends: Rows) -> pa.Array:
    """The rows between these places, each read to its end; ByRow if one of them is wrong."""
    places = Places(data, at.copy(), ends)
    try:
        array = read(places, np.arange(len(at)))
    except (pa.ArrowException, OverflowError, ValueError) as error:
        raise ByRow from error
    if (places.at != ends).any():
        raise ByRow
    return array


def reader(avro: Any, schema: Schema) -> Read:
    """Of values of an Avro schema, and of ``schema`` that it is in Connect's terms, without dates.

    ByRow if they have to be read row by row.
    """
    if isinstance(avro, list):
        return _union(avro, schema)
    if isinstance(avro, dict) and avro.get("type") == "record":
        return _record(avro, schema)
    kind = avro.get("type") if isinstance(avro, dict) else avro
    if isinstance(kind, dict | list):
        return reader(kind, schema)
    if schema.logical == DECIMAL:
        if kind != "bytes":
            raise ByRow
        return lambda places, rows: _decimals(places.texts(rows), schema)
    if kind not in _READERS or schema.type in (SchemaType.ARRAY, SchemaType.MAP):
        raise ByRow
    read, wanted = _READERS[kind], to_type(schema)
    return lambda places, rows: read(places, rows).cast(wanted)


def _union(avro: list[Any], schema: Schema) -> Read:
    others = [n for n, each in enumerate(avro) if each != "null"]
    if len(others) != 1:
        raise ByRow
    there, inner = others[0], reader(avro[others[0]], schema)

    def read(places: Places, rows: Rows) -> pa.Array:
        chosen = places.integers(rows)
        if ((chosen < 0) | (chosen >= len(avro))).any():
            raise ByRow
        valid = chosen == there
        return spread(inner(places, rows[valid]), valid)

    return read


def spread(array: pa.Array, valid: npt.NDArray[np.bool_]) -> pa.Array:
    """An array of those rows that are ``valid``, with null for the others."""
    if valid.all():
        return array
    if not len(array):
        return pa.array([None] * len(valid), array.type)
    rows = np.cumsum(valid) - 1
    if not pa.types.is_struct(array.type):
        return array.take(pa.array(rows, pa.int64(), mask=~valid))
    # What is inside a null struct is not null, since it may be a field that must not be one.
    taken = array.take(pa.array(np.maximum(rows, 0)))
    inner = [taken.field(n) for n in range(array.type.num_fields)]
    nulls = ~valid | taken.is_null().to_numpy(zero_copy_only=False)
    return pa.StructArray.from_arrays(inner, fields=list(array.type), mask=pa.array(nulls))


def _record(avro: dict[str, Any], schema: Schema) -> Read:
    if not schema.fields:
        raise ByRow
    fields = list(to_type(schema))
    inner = [reader(each["type"], schema.fields[each["name"]]) for each in avro["fields"]]
    return lambda places, rows: pa.StructArray.from_arrays(
        [read(places, rows) for read in inner], fields=fields
    )


def _decimals(unscaled: pa.Array, schema: Schema) -> pa.Array:
    numbers = (int.from_bytes(each, "big", signed=True) for each in unscaled.to_pylist())
    return pa.array([Decimal(f"{n}E{-schema.scale}") for n in numbers], to_type(schema))


def _booleans(places: Places, rows: Rows) -> pa.Array:
    found = places.take(rows, 1)[:, 0]
    if (found > 1).any():
        raise ByRow
    return pa.array(found.astype(np.bool_))


def _numbers(kind: str, size: int) -> Read:
    return lambda places, rows: pa.array(
        np.ascontiguousarray(places.take(rows, size)).view(kind).reshape(-1)
    )


_READERS: Final[dict[str, Read]] = {
    "int": lambda places, rows: pa.array(places.integers(rows)),
    "long": lambda places, rows: pa.array(places.integers(rows)),
    "float": _numbers("<f4", 4),
    "double": _numbers("<f8", 8),
    "boolean": _booleans,
    "string": lambda places, rows: places.texts(rows),
    "bytes": lambda places, rows: places.texts(rows),
}
