"""Which rows of two streams are joined, found row by row as Kafka Streams does.

A row is joined with rows of the other side until the time of the stream is past its window and the
grace. Then it is over: it takes no row any more, and comes out by itself if its side is an outer
one and nothing was found for it. So a row never comes out both alone and in a pair.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple, Protocol

from penstock.sql.persistent.pair_rows import PairRow
from penstock.sql.planning.join_window import LEFT_SIDE, RIGHT_SIDE, JoinWindow

NEVER = -1
SIDES = (LEFT_SIDE, RIGHT_SIDE)
Place = tuple[int, int, int]


class Pair(NamedTuple):
    """A row that comes out; one side may be missing."""

    left: PairRow | None
    right: PairRow | None

    @property
    def time(self) -> int:
        """The later of the two."""
        return max(row.time for row in self if row is not None)


class Kept(Protocol):
    """The rows that were there before the turn."""

    def of_key(self, side: int, key: bytes, first: int, last: int) -> Iterable[PairRow]:
        """Those of a key from ``first`` to ``last``."""

    def until(self, side: int, first: int, last: int) -> Iterable[PairRow]:
        """Those from ``first`` to ``last``, in the order of their times."""


class StreamPairs:
    """One turn of a lane: partitions of both sides that have a time in common."""

    def __init__(
        self, window: JoinWindow, outer: frozenset[int], kept: Kept, *, clock: int, most: int | None
    ) -> None:
        """``clock`` is the stream's time so far; it does not go beyond ``most``, as far as that is
        given: up to there everything has been read."""
        self.clock = clock
        self._window = window
        self._outer = outer
        self._kept = kept
        self._most = most
        self._new: dict[tuple[int, bytes], list[PairRow]] = {}
        self._matched: dict[Place, PairRow] = {}
        self._waiting: list[tuple[int, int, PairRow]] = []
        self._numbers = count()
        self._until = {side: window.over(side, clock) for side in SIDES}

    def advance(self, time: int) -> Iterator[Pair]:
        """A row of that time comes: the rows that are over, and have found none."""
        now = time if self._most is None else min(time, self._most)
        if now <= self.clock:
            return
        self.clock = now
        for row in heapq.merge(self._kept_ones(), self._new_ones(), key=self._closes):
            if not row.matched:
                yield Pair(row, None) if row.side == LEFT_SIDE else Pair(None, row)

    def is_late(self, row: PairRow) -> bool:
        """Whether it is over before it has come."""
        return self._closes(row) < self.clock

    def take(self, row: PairRow) -> list[Pair]:
        """The pairs of a row that is not late."""
        near = self._near(row)
        row.matched = bool(near)
        for other in near:
            if other.is_kept and not other.matched and other.side in self._outer:
                self._matched[other.place] = other
            other.matched = True
        self._add(row)
        if row.side == LEFT_SIDE:
            return [Pair(row, other) for other in near]
        return [Pair(other, row) for other in near]

    def stored(self) -> Iterator[PairRow]:
        """At the end of the turn: the rows that are to be kept, or to be kept otherwise."""
        for rows in (self._matched.values(), *self._new.values()):
            yield from (row for row in rows if not self.is_late(row))

    def _closes(self, row: PairRow) -> int:
        return self._window.closes(row.side, row.time)

    def _near(self, row: PairRow) -> list[PairRow]:
        """The rows of the other side that it goes with, in the order of their times."""
        side = 1 - row.side
        first, last = self._window.bounds(row.side, row.time)
        first = max(first, self._window.over(side, self.clock) + 1, 0)
        new = self._new.get((side, row.key), [])
        here = new[bisect_left(new, first, key=_time) : bisect_right(new, last, key=_time)]
        kept = map(self._same, self._kept.of_key(side, row.key, first, last))
        return sorted([*kept, *here], key=_time)

    def _same(self, row: PairRow) -> PairRow:
        """As it is by now, if it was matched in this turn."""
        return self._matched.get(row.place, row)

    def _add(self, row: PairRow) -> None:
        insort(self._new.setdefault((row.side, row.key), []), row, key=_time)
        if row.side in self._outer:
            heapq.heappush(self._waiting, (self._closes(row), next(self._numbers), row))

    def _new_ones(self) -> Iterator[PairRow]:
        while self._waiting and self._waiting[0][0] < self.clock:
            yield heapq.heappop(self._waiting)[2]

    def _kept_ones(self) -> Iterator[PairRow]:
        sides = (self._kept_of(side) for side in sorted(self._outer))
        yield from heapq.merge(*sides, key=self._closes)

    def _kept_of(self, side: int) -> Iterator[PairRow]:
        first, last = self._until[side] + 1, self._window.over(side, self.clock)
        self._until[side] = last
        for row in self._kept.until(side, max(first, 0), last):
            yield self._same(row)


def _time(row: PairRow) -> int:
    return row.time
