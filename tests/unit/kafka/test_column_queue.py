"""The messages that point into Arrow columns."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import SimpleNamespace

import pyarrow as pa
import pytest
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
            bytes_at(*map(int, m[["payload", "length"]])),
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


@pytest.fixture
def fresh_look() -> Callable[[], bool]:
    """Whether columns can be queued, asked anew."""
    return lambda: column_queue._library.__wrapped__() is not None


def test_the_pinned_client_takes_columns(fresh_look: Callable[[], bool]) -> None:
    assert fresh_look()


def test_a_client_of_another_major_release_is_left_alone(
    fresh_look: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_queue, "version", lambda _: "3.0.0")
    assert not fresh_look()


def test_a_client_without_a_shared_library_is_left_alone(
    fresh_look: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one built with a library whose functions cannot be seen from outside."""
    import select

    monkeypatch.setattr(column_queue, "cimpl", SimpleNamespace(__file__=select.__file__))
    assert not fresh_look()
