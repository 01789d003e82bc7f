"""The stage of a join of two streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from penstock.sql.persistent.group_state import MARK, NEVER, GroupState, Mark
from penstock.sql.persistent.pair_rows import KeptRows, PairRow, by_join_key, digest
from penstock.sql.persistent.pair_stages import Arrivals, Arrived, Out, PairAccess
from penstock.sql.persistent.state_stages import MOST_DELETED
from penstock.sql.persistent.stream_pairs import SIDES, Pair, StreamPairs
from penstock.sql.planning.aggregate_text import LATE
from penstock.sql.planning.join_window import JoinWindow


@dataclass(frozen=True)
class JoinStreams:
    """Gives pairs, rows that are in none, and what is to be stored."""

    access: PairAccess
    window: JoinWindow
    outer: frozenset[int]
    by_key: bool
    """Whether each number of partitions has a time of its own: no key is in several of them."""
    schema: pa.Schema
    """Of what it gives."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state, mark = self.access.state.begin(by_join_key)
        arrivals = Arrivals.of(batches)
        turn = _Turn(self, state, mark, arrivals)
        out = Out(arrivals.task, self.schema)
        for each in arrivals.in_order():
            yield from turn.take(each, out)
        yield from turn.end(out)
        yield from out.rest()


class _Turn:
    """One turn, with its lanes."""

    def __init__(
        self, stage: JoinStreams, state: GroupState, mark: Mark, arrivals: Arrivals
    ) -> None:
        self._stage = stage
        self._state = state
        self._mark = mark
        self._latest = arrivals.latest()
        self._lanes: dict[int, StreamPairs] = {}
        self._most = self._read_up_to()

    def _lane(self, partition: int) -> int:
        return partition if self._stage.by_key else 0

    def _read_up_to(self) -> Mapping[int, int]:
        """Of each lane with partitions that have more records, up to when all have been read."""
        found: dict[int, int] = {}
        for number in self._stage.access.unread(self._mark):
            at = max(self._latest.get(number, NEVER), self._mark.times.get(number, NEVER))
            lane = self._lane(number // 2)
            found[lane] = min(at, found.get(lane, at))
        return found

    def take(self, each: Arrived, out: Out) -> Iterator[pa.RecordBatch]:
        """What becomes of one record."""
        if each.error is not None:
            yield from out.wrong(each.record, each.error)
        elif each.key is not None and each.time is not None and each.record.value is not None:
            lane = self._lane(each.record.partition)
            row = PairRow(lane, each.side, digest(each.key), each.time, each.record)
            pairs = self._pairs(lane)
            for pair in pairs.advance(row.time):
                yield from _given(pair, out)
            if pairs.is_late(row):
                yield from out.wrong(row.record, LATE)
                return
            for pair in pairs.take(row):
                yield from _given(pair, out)

    def _newest(self) -> Mapping[int, int]:
        """Of each lane the latest time of all rows: earlier turns may not have gone so far."""
        found: dict[int, int] = {}
        for times in (self._mark.times, self._latest):
            for number, at in times.items():
                lane = self._lane(number // 2)
                found[lane] = max(at, found.get(lane, at))
        return found

    def _pairs(self, lane: int) -> StreamPairs:
        if lane not in self._lanes:
            self._lanes[lane] = StreamPairs(
                self._stage.window,
                self._stage.outer,
                KeptRows(self._state, self._mark, lane),
                clock=self._mark.clocks.get(lane, NEVER),
                most=self._most.get(lane),
            )
        return self._lanes[lane]

    def end(self, out: Out) -> Iterator[pa.RecordBatch]:
        """What is over by now, what is to be stored, and what is not needed any more."""
        for lane, newest in self._newest().items():
            for pair in self._pairs(lane).advance(newest):
                yield from _given(pair, out)
        for lane, pairs in self._lanes.items():
            for row in pairs.stored():
                yield from out.note(
                    row.state_key(self._mark), row.record.packed(matched=row.matched)
                )
            for key in self._over(lane, pairs.clock):
                yield from out.note(key, None)
        for key in self._state.outdated(self._mark, None, MOST_DELETED):
            yield from out.note(key, None)
        clocks = {lane: pairs.clock for lane, pairs in self._lanes.items()}
        mark = self._mark.ended(self._stage.access.state.ranges, self._latest)
        mark = replace(mark, clocks={**self._mark.clocks, **clocks})
        yield from out.note(MARK, mark.packed())

    def _over(self, lane: int, clock: int) -> Iterator[bytes]:
        kept = KeptRows(self._state, self._mark, lane)
        for side in SIDES:
            for keys in kept.keys_until(side, 0, self._stage.window.over(side, clock)):
                yield from keys


def _given(pair: Pair, out: Out) -> Iterator[pa.RecordBatch]:
    left, right = (None if row is None else row.record for row in pair)
    return out.pair(left, right, pair.time)
