"""What is promised of each format."""

from __future__ import annotations

import pytest

from penstock.engine.frames.formats import promise


@pytest.mark.parametrize(
    ("name", "path", "said"),
    [
        ("parquet", "/data/x", "exactly once: a turn is in its place"),
        ("Parquet", "s3a://bucket/x", "at least once: this file system renames by copying"),
        ("delta", "/data/x", "exactly once: the table's log"),
        ("iceberg", "lake.sales.people", "exactly once: the table's snapshots"),
        ("jdbc", "", "at least once: this format appends"),
    ],
)
def test_what_is_promised(name: str, path: str, said: str) -> None:
    assert promise(name, path).startswith(said)
