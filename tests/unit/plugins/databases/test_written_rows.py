"""Of the rows of a batch with one key, the last one counts."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from penstock.plugins.databases.written_rows import last_of_each


@pytest.mark.parametrize(
    ("keys", "kept"),
    [
        ([2, 1, 2, 1, 3], [3, 2, 4]),
        (["b", "a", "B", "a", "b"], [2, 3, 4]),
        ([b"\x01", b"", b"\x01", b"\x00", b""], [4, 3, 2]),
        ([Decimal("1.50"), Decimal("-2"), Decimal("1.5"), Decimal(0), Decimal(9)], [1, 3, 2, 4]),
        ([True, False, True, True, False], [4, 3]),
        ([0.5, float("nan"), float("nan"), -1.0, 0.5], [3, 4, 2]),
        ([dt.date(2024, 1, 2), dt.date(2024, 1, 1)] * 2, [3, 2]),
        ([dt.time(2), dt.time(1)] * 2, [3, 2]),
        ([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * 3, [2]),
        ([[1], [0], [1], [2], [0]], [4, 2, 3]),
    ],
)
def test_one_key(keys: list[Any], kept: list[int]) -> None:
    data = pa.table({"k": keys, "place": range(len(keys))})
    assert last_of_each(data, ["k"]).column("place").to_pylist() == kept


def test_several_keys_and_a_slice() -> None:
    rows = [(9, "x"), (1, "b"), (1, "a"), (0, "a"), (1, "a"), (1, "b")]
    data = pa.table({"n": [n for n, _ in rows], "t": [t for _, t in rows], "at": range(6)})
    assert last_of_each(data, ["n", "t"]).column("at").to_pylist() == [3, 4, 5, 0]
    assert last_of_each(data.slice(1, 3), ["n", "t"]).column("at").to_pylist() == [3, 2, 1]
    assert last_of_each(data.slice(0, 0), ["n"]).num_rows == 0
