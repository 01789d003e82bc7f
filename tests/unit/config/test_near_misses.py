"""Keys that were probably mistyped."""

from __future__ import annotations

import pytest

from penstock.config.near_misses import near_misses

KNOWN = ["name", "connector.class", "tasks.max", "topic", "file", "errors.tolerance"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("task.max", "tasks.max"),
        ("topics", "topic"),
        ("connector.clas", "connector.class"),
        ("errors.tolerence", "errors.tolerance"),
        ("tasks.max", None),
        ("file.name", None),
        ("owner", None),
        ("producer.override.acks", None),
    ],
)
def test_near_misses(key: str, meant: str | None) -> None:
    assert near_misses([key], KNOWN) == ([] if meant is None else [(key, meant)])
