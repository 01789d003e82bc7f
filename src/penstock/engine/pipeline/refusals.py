"""Which rows are refused by something that refuses a whole batch for one of them.

To try the batch again without each bad row takes time that grows with the square of their number.
So after a refusal less is tried at a time, about as many rows as were good in a row, and more
again as long as all goes well: all in all, a few times as many rows as there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from penstock.sdk.errors import RecordError

E = TypeVar("E", bound=RecordError)
Attempt = Callable[[int, int], None]
"""Tries the rows from a first one up to an end; a RecordError names a row, counted from there."""


def refusals(rows: int, attempt: Attempt, kind: type[E]) -> Iterator[tuple[int, E]]:
    """Try all rows, in their order; those that are refused, each before a row behind it succeeds.

    A row that is not refused is in exactly one attempt that succeeds.
    """
    start, size = 0, rows
    known: list[tuple[int, E]] = []
    while start < rows:
        end = known[-1][0] if known else rows
        stop = min(end, start + size)
        if start < stop:
            try:
                attempt(start, stop)
            except kind as error:
                known.append((start + error.row, error))
                size = max(1, error.row)
                continue
            start, size = stop, 2 * (stop - start)
        if known and start == known[-1][0]:
            yield known.pop()
            start += 1
