"""The stages of queries with sessions or EMIT FINAL: rows into sessions, and windows into panes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.sql.persistent.added_columns import with_columns
from penstock.sql.persistent.group_state import MARK, GroupState, Mark
from penstock.sql.persistent.sessions import KeptWindow, Session, Sessions
from penstock.sql.persistent.state_stages import MOST_DELETED, TASK, StateAccess, Turn
from penstock.sql.planning.aggregate_text import GROUP_KEY, START
from penstock.sql.planning.pane_text import PANE_COLUMNS, PANES, PLAN, SESSION_COLUMNS, UNTIL
from penstock.sql.planning.turn_text import PARTITION, TIME
from penstock.sql.planning.windows import GroupWindow, SessionWindow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Pane = dict[str, Any]


@dataclass(frozen=True)
class _AddSessions:
    """Adds to each row its part of a session, and at the end a row for the panes of each group."""

    access: StateAccess
    window: SessionWindow
    schema: pa.Schema
    plan_type: pa.DataType

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state, mark = self.access.begin()
        sessions = Sessions(self.window, mark.times, lambda group: state.windows_of(mark, group))
        turn, task = sum(mark.offsets.values()), 0
        for batch in batches:
            if batch.num_rows:
                task = batch.column(TASK)[0].as_py()
            yield self._taken(batch, sessions, turn)
        yield self._planned(sessions, mark, task)

    def _taken(self, batch: pa.RecordBatch, sessions: Sessions, turn: int) -> pa.RecordBatch:
        rows = (batch.column(name).to_pylist() for name in (GROUP_KEY, TIME, PARTITION))
        parts = [
            None if group is None else sessions.take(group, time, partition)
            for group, time, partition in zip(*rows, strict=True)
        ]
        number = len(parts)
        given = pa.array(parts, pa.int32())
        added = [
            given,
            pc.and_(given.is_null(), batch.column(GROUP_KEY).is_valid()),
            pa.array([turn] * number, pa.int64()),
            pa.nulls(number, self.plan_type),
        ]
        return _with(batch, added, SESSION_COLUMNS)

    def _planned(self, sessions: Sessions, mark: Mark, task: int) -> pa.RecordBatch:
        changed = sessions.changed()
        number = len(changed)
        empty = _empty(self.schema, number, task)
        place = self.schema.get_field_index(GROUP_KEY)
        groups = empty.set_column(place, GROUP_KEY, pa.array([*changed], pa.binary()))
        plans = [[_pane(mark, g, each) for each in found] for g, found in changed.items()]
        added = [
            pa.nulls(number, pa.int32()),
            pa.nulls(number, pa.bool_()),
            pa.nulls(number, pa.int64()),
            pa.array(plans, self.plan_type),
        ]
        return _with(groups, added, SESSION_COLUMNS)


@dataclass(frozen=True)
class _AddPanes:
    """Adds the panes of each row, then what else is to be stored, or has come to its end."""

    access: StateAccess
    window: GroupWindow
    final: bool
    schema: pa.Schema
    panes_type: pa.DataType

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state, mark = self.access.begin()
        turn, until, touched = Turn(self.access, mark), mark.newest, set[bytes]()
        for batch in batches:
            turn.take(batch)
            until = max([until, *pc.drop_null(batch.column(UNTIL)).to_pylist()[:1]])
            panes = self._panes(batch, state, mark)
            touched |= {old["key"] for each in panes for p in each or () for old in p["olds"]}
            yield self._staged(self._until(batch, until), panes)
        if self.final:
            for windows in state.over(mark, until - self.window.lag):
                held = [[_held(each)] for each in windows if each.key not in touched]
                empty = _empty(self.schema, len(held), turn.task)
                yield self._staged(self._until(empty, until), held)
        yield self._notes([(MARK, turn.mark().packed()), *self._deletions(state, mark)], turn.task)

    def _panes(
        self, batch: pa.RecordBatch, state: GroupState, mark: Mark
    ) -> list[list[Pane] | None]:
        """The panes of each row; None of a row that cannot be computed."""
        if isinstance(self.window, SessionWindow):
            return list(batch.column(PLAN).to_pylist())
        groups, starts = (batch.column(name).to_pylist() for name in (GROUP_KEY, START))
        keys = [
            None if group is None else mark.window_key(group, start, start + self.window.size)
            for group, start in zip(groups, starts, strict=True)
        ]
        rows = zip(starts, keys, state.found(keys), strict=True)
        return [self._single(*row) for row in rows]

    def _single(self, start: int, key: bytes | None, kept: bytes | None) -> list[Pane] | None:
        """The pane of a window that is never merged with another one."""
        if key is None:
            return None
        end = start + self.window.size
        olds = [] if kept is None else [KeptWindow(start, end, key, kept)._asdict()]
        return [{"first": start, "last": end, "key": key, "parts": [0], "olds": olds}]

    def _until(self, batch: pa.RecordBatch, until: int) -> pa.RecordBatch:
        place = batch.schema.get_field_index(UNTIL)
        return batch.set_column(place, UNTIL, pa.array([until] * batch.num_rows, pa.int64()))

    def _staged(self, batch: pa.RecordBatch, panes: list[Any]) -> pa.RecordBatch:
        number = batch.num_rows
        added = [
            pa.array(panes, self.panes_type),
            pa.nulls(number, pa.binary()),
            pa.nulls(number, pa.binary()),
            pa.array([False] * number, pa.bool_()),
        ]
        return _with(batch, added, PANE_COLUMNS)

    def _notes(self, notes: Sequence[tuple[bytes, bytes | None]], task: int) -> pa.RecordBatch:
        """Rows that are records of the state as they are."""
        number = len(notes)
        added = [
            pa.nulls(number, self.panes_type),
            pa.array([key for key, _ in notes], pa.binary()),
            pa.array([value for _, value in notes], pa.binary()),
            pa.array([True] * number, pa.bool_()),
        ]
        return _with(_empty(self.schema, number, task), added, PANE_COLUMNS)

    def _deletions(self, state: GroupState, mark: Mark) -> list[tuple[bytes, None]]:
        """What is not needed any more; a window that waits is deleted when it comes out."""
        over = None if self.final else mark.newest - self.window.lag
        return [(key, None) for key in state.outdated(mark, over, MOST_DELETED)]


def _pane(mark: Mark, group: bytes, session: Session) -> Pane:
    return {
        "first": session.first,
        "last": session.last,
        "key": mark.window_key(group, session.first, session.last),
        "parts": session.parts,
        "olds": [each._asdict() for each in session.olds],
    }


def _held(window: KeptWindow) -> Pane:
    """A pane that nothing new is in."""
    bounds = {"first": window.first, "last": window.last, "key": window.key}
    return {**bounds, "parts": [], "olds": [window._asdict()]}


def _empty(schema: pa.Schema, number: int, task: int) -> pa.RecordBatch:
    """Rows with nothing but their task."""
    columns = {each.name: pa.nulls(number, each.type) for each in schema}
    columns[TASK] = pa.array([task] * number, pa.int32())
    return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])


def _with(batch: pa.RecordBatch, added: Iterable[pa.Array], names: Iterable[str]) -> pa.RecordBatch:
    names = [*batch.schema.names, *names]
    return pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)


def with_sessions(rows: DataFrame, access: StateAccess) -> DataFrame:
    """Rows with ``SESSION_COLUMNS``, and further rows with the panes of each group."""
    window = access.window
    assert isinstance(window, SessionWindow)  # noqa: S101 (asked for sessions only)
    stage = _AddSessions(access, window, _arrow(rows), _arrow_type(SESSION_COLUMNS[PLAN]))
    return with_columns(rows, stage, SESSION_COLUMNS)


def with_panes(parts: DataFrame, access: StateAccess, *, final: bool) -> DataFrame:
    """Parts with ``PANE_COLUMNS``, and further rows of the state, and of windows that end."""
    assert access.window is not None  # noqa: S101 (asked for windows only)
    kind = _arrow_type(PANE_COLUMNS[PANES])
    stage = _AddPanes(access, access.window, final, _arrow(parts), kind)
    return with_columns(parts, stage, PANE_COLUMNS)


def _arrow(frame: DataFrame) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema)


def _arrow_type(kind: str) -> pa.DataType:
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import _parse_datatype_string

    return to_arrow_type(_parse_datatype_string(kind))
