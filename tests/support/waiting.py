"""Waiting on conditions, never for a length of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class WaitRanOut(AssertionError):  # noqa: N818 (named for what has happened)
    """What a test waited for did not happen in time.

    That alone says nothing about content: CI gives such a test a second try, alone
    (``scripts/second_try.py``).
    """


def eventually(
    probe: Callable[[], T], *, within: float = 60.0, what: str = "", every: float = 0.05
) -> T:
    """The first truthy answer of ``probe``; WaitRanOut with its last answer otherwise."""
    deadline = time.monotonic() + within
    answer = probe()
    while not answer:
        if time.monotonic() > deadline:
            raise WaitRanOut(f"not within {within} s: {what or probe}; last: {answer!r}")
        time.sleep(every)
        answer = probe()
    return answer
