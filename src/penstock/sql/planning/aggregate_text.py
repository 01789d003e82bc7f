"""The turn of a query with aggregates, in Spark's SQL: rows into groups, groups into changes.

Rows go through these forms, each a view of the one before:

* *records*, as of any query (``turn_text``), to which for windows a stage adds ``STREAM_TIMES``;
* *grouped*: a row for each group of the turn, with what is to be kept of its rows in ``NEW``, and
  one for each row that cannot be computed, with its record in ``BAD``;
* *staged*: a stage adds ``STATE_COLUMNS``, what was kept of the group before, and further rows that
  are records of the state as they are;
* *changes*: the records to produce. What is kept goes to the topic of the state, in the same
  transaction as the result and the offsets of the rows.
"""

# ruff: noqa: S608 - what is put into the text is written by `quoted` and `text`

from __future__ import annotations

from collections.abc import Sequence

from penstock.sql.catalog.source import WINDOW_BOUNDS, Source
from penstock.sql.planning.aggregates import BEFORE, FOLDED, GROUP, WINDOW, Aggregation
from penstock.sql.planning.encoding import key_of, to_kafka
from penstock.sql.planning.folds import PLACE
from penstock.sql.planning.persistent import PersistentPlan
from penstock.sql.planning.spark_types import quoted, text
from penstock.sql.planning.turn_text import (
    ERROR,
    OFFSET,
    PARTITION,
    PASSES,
    TIME,
    cells,
    encoded_value,
    judged,
    timestamp_of,
)
from penstock.sql.planning.windows import TimeWindow
from penstock.sql.statements.types import SqlType

SEEN, NEWEST = "penstock_seen", "penstock_newest"
STREAM_TIMES = {SEEN: "BIGINT", NEWEST: "BIGINT"}
"""The latest time that was seen of a row's partition, and of all, when the turn began."""
START, TIMES = "penstock_start", "penstock_times"
GROUP_KEY, NEW, BAD = "penstock_group_key", "penstock_new", "penstock_bad"
GONE = "penstock_gone"
"""Over a table: as ``NEW``, of what rows had before they changed."""
STATE_KEY, STATE, NOTE, IS_NOTE = (
    "penstock_state_key",
    "penstock_state",
    "penstock_note",
    "penstock_is_note",
)
STATE_COLUMNS = {STATE_KEY: "BINARY", STATE: "BINARY", NOTE: "BINARY", IS_NOTE: "BOOLEAN"}
"""``STATE`` is what was kept; a row that ``IS_NOTE`` is a record of the state, with value NOTE."""
OLD, KEPT = "penstock_old", "penstock_kept"
LATE = "the row is late: its window is closed"
JSON_OPTIONS = "map('timestampFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSSXXX')"
"""What is kept is kept exactly."""
HEADERS = "CAST(NULL AS array<struct<key:string,value:binary>>)"


def grouped(plan: PersistentPlan, records: str, partitions: Sequence[int]) -> str:
    """A row for each group; ``partitions`` are those that the turn reads."""
    aggregation = aggregation_of(plan)
    columns = ["penstock_task", ERROR, BAD, GROUP, START]
    kept = [f"'p{n}', {each.partial}" for n, each in enumerate(aggregation.foldings)]
    times = [
        f"max(CASE WHEN {ERROR} IS NULL AND {PARTITION} = {each} THEN {TIME} END)"
        for each in partitions
    ]
    made = [
        f"named_struct({', '.join(kept)}) AS {NEW}",
        f"max({TIME}) AS {TIME}",
        f"CAST(array({', '.join(times)}) AS array<bigint>) AS {TIMES}",
    ]
    more = [*STREAM_TIMES] if aggregation.window else []
    rows = _in_windows(plan, chosen(plan, records, more))
    return f"SELECT {', '.join([*columns, *made])} FROM ({rows}) GROUP BY {', '.join(columns)}"


def partials(aggregation: Aggregation) -> str:
    """What is to be kept of new rows."""
    kept = [f"'p{n}', {each.partial}" for n, each in enumerate(aggregation.foldings)]
    return f"named_struct({', '.join(kept)})"


def latest_times(partitions: Sequence[int]) -> str:
    """Of each partition the latest time of a row."""
    times = [
        f"max(CASE WHEN {ERROR} IS NULL AND {PARTITION} = {each} THEN {TIME} END)"
        for each in partitions
    ]
    return f"CAST(array({', '.join(times)}) AS array<bigint>)"


def chosen(plan: PersistentPlan, records: str, more: list[str] | None = None) -> str:
    """Rows that belong to a group, and those with an error; with these further columns."""
    aggregation = aggregation_of(plan)
    groups = [f"'g{number}', {each}" for number, each in enumerate(aggregation.groups)]
    whole = " AND ".join(f"{each} IS NOT NULL" for each in aggregation.groups)
    columns = [
        f"CASE WHEN {ERROR} IS NULL THEN named_struct({', '.join(groups)}) END AS {GROUP}",
        f"struct({OFFSET}, {PARTITION}) AS {PLACE}",
    ]
    return (
        f"SELECT *, {', '.join(columns)} FROM ({judged(plan, records, more)}) "
        f"WHERE penstock_value IS NOT NULL AND ({ERROR} IS NOT NULL OR ({PASSES} AND {whole}))"
    )


def _in_windows(plan: PersistentPlan, rows: str) -> str:
    """A row for each window that takes it, and one with an error if none does."""
    window = aggregation_of(plan).window
    if not isinstance(window, TimeWindow):
        return f"SELECT *, {bad(ERROR)} AS {BAD}, CAST(NULL AS BIGINT) AS {START} FROM ({rows})"
    so_far = (
        f"max(CASE WHEN {ERROR} IS NULL THEN {TIME} END) OVER (PARTITION BY {PARTITION} "
        f"ORDER BY {OFFSET} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    )
    timed = f"SELECT *, greatest({SEEN}, {so_far}) AS penstock_now FROM ({rows})"
    is_open = window.is_open("w", "penstock_now", f"coalesce({NEWEST}, -1)")
    starts = f"CASE WHEN {ERROR} IS NULL THEN filter({window.starts(TIME)}, w -> {is_open}) END"
    opened = f"SELECT *, {starts} AS penstock_starts FROM ({timed})"
    late = f"CASE WHEN size(penstock_starts) = 0 THEN {text(LATE)} ELSE {ERROR} END"
    told = f"SELECT * EXCEPT ({ERROR}), {late} AS {ERROR} FROM ({opened})"
    group = f"CASE WHEN {ERROR} IS NULL THEN {GROUP} END AS {GROUP}"
    spread = f"explode_outer(penstock_starts) AS {START}"
    return f"SELECT * EXCEPT ({GROUP}), {group}, {bad(ERROR)} AS {BAD}, {spread} FROM ({told})"


def bad(error: str) -> str:
    """What is kept of the record of a row with an error."""
    parts = "'key', penstock_key, 'value', penstock_value, 'headers', penstock_headers"
    place = f"'partition', {PARTITION}, 'offset', {OFFSET}"
    return f"CASE WHEN {error} IS NOT NULL THEN named_struct({parts}, {place}) END"


def bad_record(topic: str) -> str:
    """The record of such a row, as it came."""
    return record(topic, f"{BAD}.key", f"{BAD}.value", headers=f"{BAD}.headers", error=ERROR)


def with_keys(plan: PersistentPlan, sink: Source, groups: str) -> str:
    """What ``grouped`` gives, with the bytes of the key of each group."""
    key = key_of(cells(plan.keys, sink), sink.key_format)
    return f"SELECT *, CASE WHEN {ERROR} IS NULL THEN {key} END AS {GROUP_KEY} FROM ({groups})"


def without_keys(groups: str) -> str:
    """What ``with_keys`` would give where only Spark is asked for types."""
    return f"SELECT *, CAST(NULL AS BINARY) AS {GROUP_KEY} FROM ({groups})"


def without_state(groups: str) -> str:
    """What ``with_state`` would give for groups that are all new, without its notes."""
    nothing = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in STATE_COLUMNS.items())
    return f"SELECT *, {nothing} FROM ({groups})"


def folded(plan: PersistentPlan, staged: str, kept: str) -> str:
    """Groups with their aggregates, now and before; ``kept`` declares what is kept of them."""
    aggregation = aggregation_of(plan)
    old = f"from_json(CAST({STATE} AS STRING), {text(kept)}, {JSON_OPTIONS}) AS {OLD}"
    merged = [f"'t', greatest({OLD}.t, {TIME})"]
    merged += [
        f"'p{n}', {each.merged(_left(aggregation, n), f'{NEW}.p{n}')}"
        for n, each in enumerate(aggregation.foldings)
    ]
    size = aggregation.window.size if aggregation.window else 0
    columns = [
        f"{finals(aggregation, KEPT)} AS {FOLDED}",
        f"{finals(aggregation, OLD)} AS {BEFORE}",
        f"{bounds(START, f'{START} + {size}')} AS {WINDOW}",
    ]
    rows = f"SELECT *, {old} FROM ({staged})"
    rows = f"SELECT *, named_struct({', '.join(merged)}) AS {KEPT} FROM ({rows})"
    return f"SELECT *, {', '.join(columns)} FROM ({rows})"


def _left(aggregation: Aggregation, number: int) -> str:
    """What was kept before; over a table without what is gone."""
    old, gone = f"{OLD}.p{number}", f"{GONE}.p{number}"
    return aggregation.foldings[number].undone(old, gone) if aggregation.of_table else old


def finals(aggregation: Aggregation, kept: str) -> str:
    """The aggregates, out of what is kept."""
    made = [f"'a{n}', {each.final(f'{kept}.p{n}')}" for n, each in enumerate(aggregation.foldings)]
    return f"named_struct({', '.join(made)})"


def bounds(start: str, end: str) -> str:
    """Those of a window."""
    names = map(text, WINDOW_BOUNDS)
    return f"named_struct({next(names)}, {start}, {next(names)}, {end})"


def results(plan: PersistentPlan, staged: str, kept: str) -> str:
    """The columns that come out, for Spark to tell their types."""
    columns = (f"{each.text} AS {quoted(each.name)}" for each in plan.outputs)
    return f"SELECT {', '.join(columns)} FROM ({folded(plan, staged, kept)})"


def changes(plan: PersistentPlan, sink: Source, state_topic: str, staged: str, kept: str) -> str:
    """The records to produce: of each group its new row, and what is kept of it."""
    made = f"filter(array({_result(plan, sink)}, {_state(state_topic)}), r -> r IS NOT NULL)"
    rows = f"SELECT penstock_task, explode({made}) AS r FROM ({folded(plan, staged, kept)})"
    return f"SELECT penstock_task AS task, r.* FROM ({rows})"


def record(topic: str, key: str, value: str, **more: str) -> str:
    """A record to produce."""
    fields = {
        "topic": text(topic),
        "key": key,
        "value": value,
        "timestamp": more.get("timestamp", "CAST(NULL AS TIMESTAMP)"),
        "headers": more.get("headers", HEADERS),
        "error": more.get("error", "CAST(NULL AS STRING)"),
    }
    return f"named_struct({', '.join(f'{text(name)}, {each}' for name, each in fields.items())})"


def _result(plan: PersistentPlan, sink: Source) -> str:
    """The record of the sink's topic; a tombstone if the group no longer passes HAVING."""
    aggregation, nothing = aggregation_of(plan), "CAST(NULL AS BINARY)"
    key = _sink_key(aggregation)
    time = timestamp_of(plan, sink, f"{KEPT}.t")
    now = f"coalesce({aggregation.having}, FALSE)" if aggregation.having else "TRUE"
    before = f"coalesce({aggregation.having_before}, FALSE)" if aggregation.having else "FALSE"
    wrong = output_error(plan)
    cases = {
        IS_NOTE: "NULL",
        f"{ERROR} IS NOT NULL": bad_record(sink.topic),
        f"{now} AND {wrong} IS NOT NULL": record(sink.topic, key, nothing, error=wrong),
        now: record(sink.topic, key, encoded_value(plan, sink), timestamp=time),
        f"{before} AND {OLD} IS NOT NULL": record(sink.topic, key, nothing, timestamp=time),
    }
    return f"CASE {' '.join(f'WHEN {when} THEN {each}' for when, each in cases.items())} END"


def _sink_key(aggregation: Aggregation) -> str:
    """As Kafka Streams writes it: of a window, the key and the window's beginning."""
    if aggregation.window is None:
        return GROUP_KEY
    return f"concat({GROUP_KEY}, {to_kafka(START, SqlType('BIGINT'))})"


def output_error(plan: PersistentPlan) -> str:
    """Why the row of a group cannot be computed; NULL if it can."""
    told = [
        f"WHEN {each.trouble} THEN {text(f'Error computing column {each.name}')}"
        for each in plan.outputs
        if each.trouble
    ]
    return f"CASE {' '.join(told)} END" if told else "CAST(NULL AS STRING)"


def _state(topic: str) -> str:
    """The record of the state's topic."""
    kept = f"CAST(to_json({KEPT}, {JSON_OPTIONS}) AS BINARY)"
    return (
        f"CASE WHEN {IS_NOTE} THEN {record(topic, STATE_KEY, NOTE)} "
        f"WHEN {ERROR} IS NULL THEN {record(topic, STATE_KEY, kept)} END"
    )


def aggregation_of(plan: PersistentPlan) -> Aggregation:
    """That of a query that has one."""
    assert plan.aggregation is not None  # noqa: S101 (asked for queries with aggregates only)
    return plan.aggregation
