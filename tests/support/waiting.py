"""Waiting on conditions, never for a length of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(
    probe: Callable[[], T], *, within: float = 60.0, what: str = "", every: float = 0.05
) -> T:
    """The first truthy answer of ``probe``; AssertionError with its last answer otherwise."""
    deadline = time.monotonic() + within
    answer = probe()
    while not answer:
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what or probe}; last: {answer!r}")
        time.sleep(every)
        answer = probe()
    return answer
