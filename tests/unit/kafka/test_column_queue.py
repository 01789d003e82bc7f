"""The messages that point into Arrow columns."""

from __future__ import annotations

import ctypes

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.kafka import column_queue

Row = tuple[bytes | None, bytes | None]


def bytes_at(address: int, length: int) -> bytes | None:
    """What a C program makes of a pointer and a length."""
    return ctypes.string_at(address, length) if address else None


def pointed_at(keys: pa.Array, values: pa.Array) -> list[Row]:
    return [
        (
            bytes_at(*map(int, m[["key", "key_length"]])),
            bytes_at(*map(int, m[["value", "value_length"]])),
        )
        for m in column_queue._messages(keys, values)
    ]


@given(
    rows=st.lists(st.tuples(st.none() | st.binary(max_size=9), st.none() | st.binary(max_size=9))),
    skip=st.integers(0, 5),
    kind=st.sampled_from([pa.binary(), pa.large_binary()]),
)
def test_messages_point_to_what_the_columns_hold(
    rows: list[Row], skip: int, kind: pa.DataType
) -> None:
    keys = pa.array([key for key, _ in rows], kind)[skip:]
    values = pa.array([value for _, value in rows], kind)[skip:]
    assert pointed_at(keys, values) == rows[skip:]
