"""The turn of a query whose windows are merged, or whose rows wait, in Spark's SQL.

These are sessions, of which new rows can make one out of several, and windows with EMIT FINAL. A
*pane* is such a window as it is after the turn: new rows and *olds*, windows that were kept before
and go into it. Rows go through these forms, each a view of the one before:

* *rows*: as ``aggregate_text`` chooses them. Of sessions a stage adds ``SESSION_COLUMNS``, and at
  the end a row for each group that has only ``PLAN``, its panes;
* *parts*: a row for each group (of sessions), or each group and window, with what is to be kept of
  its new rows in ``PARTS``, and one for each row that cannot be computed;
* *staged*: a stage adds ``PANE_COLUMNS``; further rows are records of the state as they are, and
  panes that no new row is in but whose end has come;
* *changes*: the records to produce.
"""

# ruff: noqa: S608 - what is put into the text is written by `quoted` and `text`

from __future__ import annotations

from collections.abc import Sequence

from penstock.sql.catalog.source import Source
from penstock.sql.planning.aggregate_text import (
    BAD,
    GROUP_KEY,
    IS_NOTE,
    JSON_OPTIONS,
    LATE,
    NEW,
    NOTE,
    START,
    STATE_KEY,
    TIMES,
    aggregation_of,
    bad,
    bad_record,
    bounds,
    chosen,
    finals,
    latest_times,
    output_error,
    partials,
    record,
)
from penstock.sql.planning.aggregates import FOLDED, GROUP, WINDOW, Aggregation
from penstock.sql.planning.encoding import key_of, to_kafka
from penstock.sql.planning.folds import PLACE
from penstock.sql.planning.persistent import PersistentPlan
from penstock.sql.planning.spark_types import quoted, text
from penstock.sql.planning.turn_text import (
    ERROR,
    OFFSET,
    PARTITION,
    TIME,
    cells,
    encoded_value,
    timestamp_of,
)
from penstock.sql.planning.windows import SessionWindow
from penstock.sql.statements.types import SqlType

TASK = "penstock_task"
PART, PARTS, PLAN, PANES, UNTIL = (
    "penstock_part",
    "penstock_parts",
    "penstock_plan",
    "penstock_panes",
    "penstock_until",
)
"""``UNTIL`` is the latest time of the turn's rows."""
IS_LATE, TURN = "penstock_is_late", "penstock_turn"
OLD_TYPE = "struct<first:bigint,last:bigint,key:binary,kept:binary>"
PANE_TYPE = f"struct<first:bigint,last:bigint,key:binary,parts:array<int>,olds:array<{OLD_TYPE}>>"
"""The bounds of a window, the key under which the state has it, and the parts that are in it."""
SESSION_COLUMNS = {
    PART: "INT",
    IS_LATE: "BOOLEAN",
    TURN: "BIGINT",
    PLAN: f"array<{PANE_TYPE}>",
}
"""``TURN`` grows from turn to turn."""
PANE_COLUMNS = {
    PANES: f"array<{PANE_TYPE}>",
    STATE_KEY: "BINARY",
    NOTE: "BINARY",
    IS_NOTE: "BOOLEAN",
}
PANE, OLDS, KEPT, SHOWN, OVER, TOLD = (
    "penstock_pane",
    "penstock_olds",
    "penstock_kept",
    "penstock_shown",
    "penstock_over",
    "penstock_told",
)
NO_BYTES = "CAST(NULL AS BINARY)"


def session_rows(plan: PersistentPlan, records: str, sink: Source | None) -> str:
    """Rows with the bytes of their group's key; without a sink, as only Spark is asked, NULL."""
    key = key_of(cells(plan.keys, sink), sink.key_format) if sink else NO_BYTES
    rows = chosen(plan, records)
    return f"SELECT *, CASE WHEN {ERROR} IS NULL THEN {key} END AS {GROUP_KEY} FROM ({rows})"


def without_sessions(rows: str) -> str:
    """What the stage of sessions would give for no rows at all."""
    return _with_nothing(rows, SESSION_COLUMNS)


def without_panes(parts: str) -> str:
    """The same of the stage that adds panes."""
    return _with_nothing(parts, PANE_COLUMNS)


def _with_nothing(rows: str, columns: dict[str, str]) -> str:
    nothing = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in columns.items())
    return f"SELECT *, {nothing} FROM ({rows})"


def session_parts(plan: PersistentPlan, rows: str, partitions: Sequence[int]) -> str:
    """A row for each group; ``rows`` have ``SESSION_COLUMNS``."""
    good = f"NOT coalesce({IS_LATE}, FALSE)"
    columns = {
        ERROR: f"CASE WHEN {good} THEN {ERROR} ELSE {text(LATE)} END",
        GROUP: f"CASE WHEN {good} THEN {GROUP} END",
        GROUP_KEY: f"CASE WHEN {good} THEN {GROUP_KEY} END",
        PLACE: f"struct({TURN}, {OFFSET}, {PARTITION})",
    }
    changed = ", ".join(f"{each} AS {name}" for name, each in columns.items())
    told = f"SELECT * EXCEPT ({', '.join(columns)}), {changed} FROM ({rows})"
    told = f"SELECT *, {bad(ERROR)} AS {BAD} FROM ({told})"
    same = f"{TASK}, {ERROR}, {BAD}, {GROUP_KEY}"
    made = [
        f"{partials(aggregation_of(plan))} AS {NEW}",
        f"max({TIME}) AS {TIME}",
        f"{latest_times(partitions)} AS {TIMES}",
        f"first({PLAN}, true) AS {PLAN}",
    ]
    parts = (
        f"SELECT {same}, {GROUP}, {PART}, {', '.join(made)} FROM ({told}) "
        f"GROUP BY {same}, {GROUP}, {PART}"
    )
    part = f"CASE WHEN {PART} IS NOT NULL THEN {_part(PART)} END"
    whole = [
        f"first({GROUP}, true) AS {GROUP}",
        f"array_sort(collect_list({part}), (l, r) -> CASE WHEN l.part < r.part THEN -1 ELSE 1 END) "
        f"AS {PARTS}",
        f"CAST(array({', '.join(f'max({TIMES}[{n}])' for n in range(len(partitions)))}) "
        f"AS array<bigint>) AS {TIMES}",
        f"first({PLAN}, true) AS {PLAN}",
    ]
    return f"SELECT {same}, {', '.join(whole)} FROM ({parts}) GROUP BY {same}"


def time_parts(groups: str) -> str:
    """The same of windows that are not merged, out of ``aggregate_text.grouped``."""
    columns = [TASK, ERROR, BAD, GROUP, GROUP_KEY, START, TIMES, f"array({_part('0')}) AS {PARTS}"]
    return f"SELECT {', '.join(columns)} FROM ({groups})"


def _part(number: str) -> str:
    return f"struct({number} AS part, {TIME} AS t, {NEW} AS n)"


def with_until(parts: str) -> str:
    """Parts with ``UNTIL``."""
    latest = f"CASE WHEN {ERROR} IS NULL THEN array_max({TIMES}) END"
    return f"SELECT *, max({latest}) OVER (PARTITION BY {TASK}) AS {UNTIL} FROM ({parts})"


def without_until(parts: str) -> str:
    """The same where nothing waits for it."""
    return f"SELECT *, CAST(NULL AS BIGINT) AS {UNTIL} FROM ({parts})"


def panes(plan: PersistentPlan, staged: str, kept: str) -> str:
    """A row for each pane with its aggregates; ``kept`` declares what is kept of one."""
    aggregation = aggregation_of(plan)
    old = f"from_json(CAST(o.kept AS STRING), {text(kept)}, {JSON_OPTIONS})"
    single = f"SELECT *, explode_outer({PANES}) AS {PANE} FROM ({staged})"
    read = f"SELECT *, transform({PANE}.olds, o -> {old}) AS {OLDS} FROM ({single})"
    merged = f"SELECT *, {_merged(aggregation, kept)} AS {KEPT} FROM ({read})"
    first, last = f"{PANE}.first", f"{PANE}.last"
    columns = [
        f"{finals(aggregation, KEPT)} AS {FOLDED}",
        f"coalesce({GROUP}, {KEPT}.g) AS {GROUP}",
        f"{bounds(first, last)} AS {WINDOW}",
    ]
    return f"SELECT * EXCEPT ({GROUP}), {', '.join(columns)} FROM ({merged})"


def _merged(aggregation: Aggregation, kept: str) -> str:
    """What is kept of a pane: of its olds, in the order of their times, and of its new rows."""
    kind, folds = f"STRUCT<{kept}>", list(enumerate(aggregation.foldings))
    new = ["'t', s.t", f"'g', {GROUP}", "'v', FALSE", *(f"'p{n}', s.n.p{n}" for n, _ in folds)]
    mine = f"filter({PARTS}, s -> array_contains({PANE}.parts, s.part))"
    news = f"transform({mine}, s -> CAST(named_struct({', '.join(new)}) AS {kind}))"
    both = ["'t', greatest(m.t, x.t)", "'g', coalesce(m.g, x.g)", "'v', FALSE"]
    both += [f"'p{n}', {each.merged(f'm.p{n}', f'x.p{n}')}" for n, each in folds]
    every = f"concat({OLDS}, coalesce({news}, array()))"
    step = f"CAST(named_struct({', '.join(both)}) AS {kind})"
    return f"aggregate({every}, CAST(NULL AS {kind}), (m, x) -> {step})"


def pane_results(plan: PersistentPlan, staged: str, kept: str) -> str:
    """The columns that come out, for Spark to tell their types."""
    columns = (f"{each.text} AS {quoted(each.name)}" for each in plan.outputs)
    return f"SELECT {', '.join(columns)} FROM ({panes(plan, staged, kept)})"


def pane_changes(
    plan: PersistentPlan, sink: Source, state_topic: str, staged: str, kept: str
) -> str:
    """The records to produce."""
    aggregation = aggregation_of(plan)
    having = f"coalesce({aggregation.having}, FALSE)" if aggregation.having else "TRUE"
    lag = aggregation.window.lag if aggregation.window else 0
    over = f"coalesce({PANE}.last + {lag} <= {UNTIL}, FALSE)" if aggregation.final else "FALSE"
    judged = [
        f"{having} AS {SHOWN}",
        f"{over} AS {OVER}",
        f"{output_error(plan)} AS {TOLD}",
    ]
    rows = f"SELECT *, {', '.join(judged)} FROM ({panes(plan, staged, kept)})"
    out = f"SELECT {TASK}, explode({_records(plan, sink, state_topic)}) AS r FROM ({rows})"
    return f"SELECT {TASK} AS task, r.* FROM ({out})"


def _records(plan: PersistentPlan, sink: Source, state_topic: str) -> str:
    """What is not there any more, then what is there now; first for readers, then the state."""
    aggregation = aggregation_of(plan)
    gone = record(state_topic, "o.key", NO_BYTES)
    replaced = f"(o.key <> {PANE}.key OR {OVER})"
    of_readers = [] if aggregation.final else [_tombstones(plan, sink)]
    of_state = [
        f"transform({PANE}.olds, o -> CASE WHEN {replaced} THEN {gone} END)",
        f"array(CASE WHEN NOT {OVER} THEN {record(state_topic, f'{PANE}.key', _stored(plan))} END)",
    ]
    pane = f"concat({', '.join([*of_readers, f'array({_result(plan, sink)})', *of_state])})"
    note = f"array({record(state_topic, STATE_KEY, NOTE)})"
    wrong = f"array({bad_record(sink.topic)})"
    whole = (
        f"CASE WHEN {IS_NOTE} THEN {note} WHEN {ERROR} IS NOT NULL THEN {wrong} "
        f"WHEN {PANE} IS NOT NULL THEN {pane} END"
    )
    return f"filter({whole}, r -> r IS NOT NULL)"


def _result(plan: PersistentPlan, sink: Source) -> str:
    """The record of the sink's topic, if there is one."""
    final = aggregation_of(plan).final
    key = _sink_key(plan, sink, f"{PANE}.first", f"{PANE}.last")
    time = timestamp_of(plan, sink, f"{KEPT}.t")
    told = record(sink.topic, key, NO_BYTES, error=TOLD)
    shown = record(sink.topic, key, encoded_value(plan, sink), timestamp=time)
    gone = record(sink.topic, key, NO_BYTES, timestamp=time)
    was_shown = f"exists({_zipped()}, z -> z.o.key = {PANE}.key AND z.k.v)"
    hidden = "" if final else f"WHEN {was_shown} THEN {gone}"
    waits = f"WHEN NOT {OVER} THEN NULL" if final else ""
    return (
        f"CASE {waits} WHEN {SHOWN} AND {TOLD} IS NOT NULL THEN {told} "
        f"WHEN {SHOWN} THEN {shown} {hidden} END"
    )


def _tombstones(plan: PersistentPlan, sink: Source) -> str:
    """Of windows that have become part of another one, and that readers have seen."""
    key = _sink_key(plan, sink, "z.o.first", "z.o.last")
    gone = record(sink.topic, key, NO_BYTES, timestamp=timestamp_of(plan, sink, f"{KEPT}.t"))
    return f"transform({_zipped()}, z -> CASE WHEN z.o.key <> {PANE}.key AND z.k.v THEN {gone} END)"


def _zipped() -> str:
    """Olds with what was kept of them."""
    return f"transform({PANE}.olds, (o, i) -> struct(o AS o, {OLDS}[i] AS k))"


def _sink_key(plan: PersistentPlan, sink: Source, first: str, last: str) -> str:
    """As Kafka Streams writes it: the key, and for sessions the end, then the beginning."""
    key = key_of(cells(plan.keys, sink), sink.key_format)
    number = SqlType("BIGINT")
    session = isinstance(aggregation_of(plan).window, SessionWindow)
    parts = [key, *([to_kafka(last, number)] if session else []), to_kafka(first, number)]
    return f"concat({', '.join(parts)})"


def _stored(plan: PersistentPlan) -> str:
    """What is kept of a pane."""
    count = len(aggregation_of(plan).foldings)
    shown = f"{SHOWN} AND {TOLD} IS NULL"
    fields = [f"'t', {KEPT}.t", f"'g', {KEPT}.g", f"'v', {shown}"]
    fields += [f"'p{n}', {KEPT}.p{n}" for n in range(count)]
    return f"CAST(to_json(named_struct({', '.join(fields)}), {JSON_OPTIONS}) AS BINARY)"
