"""The bytes before every record: a zero, and the id of its schema in four bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.sdk.errors import RecordError

HEADER_BYTES = 5
_NULL = -1


@dataclass(frozen=True)
class Run:
    """Consecutive rows whose schema has the same id; None if all of them are null."""

    start: int
    stop: int
    schema_id: int | None


def header(schema_id: int) -> bytes:
    """What stands before a record."""
    return struct.pack(">BI", 0, schema_id)


def runs(data: pa.Array) -> Iterator[Run]:
    """The rows of a binary array by id; a null row belongs to what is before it, or after.

    RecordError for a row that does not begin with such a header.
    """
    ids = _filled(_ids(data))
    edges = [0, *(np.flatnonzero(np.diff(ids)) + 1).tolist(), len(ids)]
    for start, stop in pairwise(edges):
        found = int(ids[start])
        yield Run(start, stop, None if found == _NULL else found)


def offsets_of(data: pa.Array) -> npt.NDArray[np.int32]:
    """Where each row begins in the array's values, and the end of the last."""
    return np.frombuffer(data.buffers()[1], np.int32)[data.offset : data.offset + len(data) + 1]


def _ids(data: pa.Array) -> npt.NDArray[np.int64]:
    ids = np.full(len(data), _NULL, np.int64)
    rows = np.flatnonzero(data.is_valid().to_numpy(zero_copy_only=False))
    if not len(rows):
        return ids
    offsets = offsets_of(data)
    starts, sizes = offsets[rows], offsets[rows + 1] - offsets[rows]
    _refuse(rows[sizes < HEADER_BYTES], "it has less than 5 bytes")
    values = np.frombuffer(data.buffers()[2], np.uint8)
    _refuse(rows[values[starts] != 0], "its first byte is not 0")
    places = starts[:, None] + np.arange(1, HEADER_BYTES)
    ids[rows] = values[places].astype(np.int64) @ (256 ** np.arange(3, -1, -1))
    return ids


def _refuse(rows: npt.NDArray[np.int64], why: str) -> None:
    if len(rows):
        raise RecordError(
            f"The record was not written with a schema registry: {why}. If the topic has plain "
            "JSON or text, use org.apache.kafka.connect.json.JsonConverter or StringConverter.",
            row=int(rows[0]),
        )


def _filled(ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Nulls with the id of the row before them; at the start, with the first there is."""
    there = np.flatnonzero(ids != _NULL)
    if not len(there) or len(there) == len(ids):
        return ids
    last = np.maximum.accumulate(np.where(ids != _NULL, np.arange(len(ids)), there[0]))
    filled: npt.NDArray[np.int64] = ids[last]
    return filled
