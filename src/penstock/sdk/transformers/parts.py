"""Many at a time, of what is made one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_parts(items: Iterable[T], most: int) -> Iterator[list[T]]:
    """Lists of at most so many; what comes before an error is given before it is raised."""
    left, error, full = iter(items), None, True
    while full and error is None:
        part: list[T] = []
        try:
            for item in islice(left, most):
                part.append(item)  # noqa: PERF402 (what was there before an error is kept)
        except Exception as raised:  # noqa: BLE001 (raised below)
            error = raised
        full = len(part) == most
        if part:
            yield part
    if error is not None:
        raise error
