"""The stages that bring a query's state into its turn: before rows are grouped, and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.sdk.frames import TopicRange
from penstock.sql.persistent.added_columns import with_columns
from penstock.sql.persistent.group_state import MARK, NEVER, GroupState, Index, Mark, by_group
from penstock.sql.persistent.table_join import opened, store_root
from penstock.sql.persistent.table_reading import TableTopic
from penstock.sql.planning.aggregate_text import (
    GROUP_KEY,
    START,
    STATE_COLUMNS,
    STREAM_TIMES,
    TIMES,
)
from penstock.sql.planning.windows import GroupWindow, SessionWindow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_DELETED = 10_000
"""How much of what is not needed any more is deleted in one turn."""
TASK = "penstock_task"


@dataclass(frozen=True)
class StateAccess:
    """How stages reach the state in one turn; travels to the executors."""

    topic: TableTopic | None
    store: str
    """The folder of the query's state, below that of all."""
    ranges: tuple[TopicRange, ...]
    window: GroupWindow | None
    root: str = ""

    @property
    def partitions(self) -> tuple[int, ...]:
        """Those that the turn reads."""
        return tuple(sorted({r.partition for r in self.ranges}))

    def begin(self, index: Index | None = None) -> tuple[GroupState, Mark]:
        """The state, read to its end, and the mark that the turn goes on from."""
        if isinstance(self.window, SessionWindow):
            index = by_group
        state, mark = self.read(index)
        return state, mark.begun(self.ranges)

    def read(self, index: Index | None = None) -> tuple[GroupState, Mark]:
        """The state, read to its end, and the mark after the last turn."""
        store = opened(store_root(self.root) / self.store / "groups")
        state = GroupState(store, self.topic, index)
        return state, state.catch_up()


@dataclass(frozen=True)
class _AddTimes:
    """Before rows are grouped: adds how late it was in the stream when the turn began."""

    access: StateAccess

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _, mark = self.access.begin()
        for batch in batches:
            partitions = batch.column("partition").to_pylist()
            seen = pa.array([mark.times.get(p, NEVER) for p in partitions], pa.int64())
            newest = pa.array([mark.newest] * len(partitions), pa.int64())
            names = [*batch.schema.names, *STREAM_TIMES]
            yield pa.RecordBatch.from_arrays([*batch.columns, seen, newest], names=names)


@dataclass(frozen=True)
class _AddState:
    """After rows were grouped: adds what is kept of each group, then what else is to be stored."""

    access: StateAccess
    schema: pa.Schema
    """Of what comes in: perhaps nothing does."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state, mark = self.access.begin()
        turn = Turn(self.access, mark)
        for batch in batches:
            turn.take(batch)
            keys = _keys(batch, mark)
            yield _staged(batch, keys, state.found(keys))
        yield self._notes(turn, [(MARK, turn.mark().packed()), *turn.deletions(state)])

    def _notes(self, turn: Turn, notes: list[tuple[bytes, bytes | None]]) -> pa.RecordBatch:
        """Rows that are records of the state as they are."""
        count = len(notes)
        columns = {each.name: pa.nulls(count, each.type) for each in self.schema}
        columns[TASK] = pa.array([turn.task] * count, pa.int32())
        added = [
            pa.array([key for key, _ in notes], pa.binary()),
            pa.nulls(count, pa.binary()),
            pa.array([value for _, value in notes], pa.binary()),
            pa.array([True] * count),
        ]
        names = [*columns, *STATE_COLUMNS]
        return pa.RecordBatch.from_arrays([*columns.values(), *added], names=names)


@dataclass
class Turn:
    """What the groups of one turn tell about it."""

    access: StateAccess
    begun: Mark
    task: int = 0
    _times: dict[int, int] = field(default_factory=dict)

    def take(self, batch: pa.RecordBatch) -> None:
        """Note the times of groups, and the task."""
        if batch.num_rows:
            self.task = batch.column(TASK)[0].as_py()
        times = batch.column(TIMES)
        for number, partition in enumerate(self.access.partitions):
            latest = pc.max(pc.list_element(times, number)).as_py() if batch.num_rows else None
            if latest is not None:
                self._times[partition] = max(latest, self._times.get(partition, NEVER))

    def mark(self) -> Mark:
        """The mark after the turn."""
        return self.begun.ended(self.access.ranges, self._times)

    def deletions(self, state: GroupState) -> Sequence[tuple[bytes, None]]:
        """Tombstones of what is not needed any more."""
        window = self.access.window
        closed = self.begun.newest - window.size - window.kept if window else None
        return [(key, None) for key in state.outdated(self.begun, closed, MOST_DELETED)]


def _keys(batch: pa.RecordBatch, mark: Mark) -> list[bytes | None]:
    groups, starts = (batch.column(name).to_pylist() for name in (GROUP_KEY, START))
    return [
        None if group is None else mark.key(group, start)
        for group, start in zip(groups, starts, strict=True)
    ]


def _staged(
    batch: pa.RecordBatch, keys: list[bytes | None], found: list[bytes | None]
) -> pa.RecordBatch:
    added = [
        pa.array(keys, pa.binary()),
        pa.array(found, pa.binary()),
        pa.nulls(len(keys), pa.binary()),
        pa.array([False] * len(keys), pa.bool_()),
    ]
    names = [*batch.schema.names, *STATE_COLUMNS]
    return pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)


def with_times(records: DataFrame, access: StateAccess) -> DataFrame:
    """Records with ``STREAM_TIMES``."""
    return with_columns(records, _AddTimes(access), STREAM_TIMES)


def with_state(groups: DataFrame, access: StateAccess) -> DataFrame:
    """Groups with ``STATE_COLUMNS``, and further rows that are records of the state."""
    from pyspark.sql.pandas.types import to_arrow_schema

    stage = _AddState(access, to_arrow_schema(groups.schema))
    return with_columns(groups, stage, STATE_COLUMNS)
