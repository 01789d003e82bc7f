"""The turn of a query with aggregates over a table, in Spark's SQL.

A row of a table is not added for good: when it changes, what it had before is taken back from its
group. So beside what is kept of groups, of each row of the table its group and the arguments of the
aggregates are kept. Rows go through these forms, each a view of the one before:

* *last*: of each key of the table the last record of the turn that can be computed; its group is
  NULL of a tombstone, and of a row that does not pass. Records that cannot be computed are in BAD;
* to which a stage adds ``ROW_COLUMNS``, what was kept of the row before;
* *regrouped*: a row for each group with what is added and what is gone, as in ``aggregate_text``,
  and one for each row of the table with what is to be kept of it;
* from there on, as ``aggregate_text`` says.
"""

# ruff: noqa: S608 - what is put into the text is written by `quoted` and `text`

from __future__ import annotations

from collections.abc import Sequence

from penstock.sql.catalog.source import AVRO, Source
from penstock.sql.planning.aggregate_text import (
    BAD,
    GONE,
    GROUP_KEY,
    IS_NOTE,
    JSON_OPTIONS,
    NEW,
    NOTE,
    START,
    STATE_KEY,
    TIMES,
    aggregation_of,
    bad,
    latest_times,
)
from penstock.sql.planning.aggregates import GROUP, KEPT_ROW, Aggregation
from penstock.sql.planning.decoding import KEY_TEXT
from penstock.sql.planning.encoding import key_of
from penstock.sql.planning.folds import PLACE
from penstock.sql.planning.persistent import PersistentPlan
from penstock.sql.planning.spark_types import text
from penstock.sql.planning.table_folds import ADDED, SIDE
from penstock.sql.planning.turn_text import ERROR, OFFSET, PARTITION, PASSES, TIME, cells, judged

TASK = "penstock_task"
ROW_KEY = "penstock_row_key"
ROW_STATE_KEY, ROW_BEFORE, ROW_NOTE = (
    "penstock_row_state_key",
    "penstock_row_before",
    "penstock_row_note",
)
ROW_COLUMNS = {ROW_STATE_KEY: "BINARY", ROW_BEFORE: "BINARY"}
EFFECT = "penstock_effect"
NO_FIELDS = "'none', CAST(NULL AS INT)"


def last_rows(plan: PersistentPlan, records: str, partitions: Sequence[int]) -> str:
    """Of each key of the table the last record."""
    aggregation = aggregation_of(plan)
    avro = plan.source.key_format == AVRO
    groups = _struct("g", aggregation.groups)
    whole = " AND ".join(f"{each} IS NOT NULL" for each in aggregation.groups)
    counted = f"CASE WHEN {ERROR} IS NULL AND {PASSES} AND {whole} THEN"
    columns = [
        f"{counted} {groups} END AS {GROUP}",
        f"{counted} {_struct('x', aggregation.arguments)} END AS {KEPT_ROW}",
        f"struct({OFFSET}, {PARTITION}) AS {PLACE}",
        f"CASE WHEN {ERROR} IS NULL THEN {KEY_TEXT if avro else 'penstock_key'} END AS {ROW_KEY}",
        f"{bad(ERROR)} AS {BAD}",
    ]
    rows = judged(plan, records, [KEY_TEXT] if avro else [])
    there = f"penstock_key IS NOT NULL OR {ERROR} IS NOT NULL"
    keyed = f"SELECT *, {', '.join(columns)} FROM ({rows}) WHERE {there}"
    same = f"{TASK}, {ERROR}, {BAD}, {ROW_KEY}"
    made = [f"max_by({each}, {PLACE}) AS {each}" for each in (GROUP, KEPT_ROW, TIME)]
    made += [f"max({PLACE}) AS {PLACE}", f"{latest_times(partitions)} AS {TIMES}"]
    return f"SELECT {same}, {', '.join(made)} FROM ({keyed}) GROUP BY {same}"


def _struct(letter: str, texts: Sequence[str]) -> str:
    fields = [f"'{letter}{number}', {each}" for number, each in enumerate(texts)]
    return f"named_struct({', '.join(fields) or NO_FIELDS})"


def without_rows(last: str) -> str:
    """What the stage would give for no rows at all."""
    nothing = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in ROW_COLUMNS.items())
    return f"SELECT *, {nothing} FROM ({last})"


def regrouped(
    plan: PersistentPlan, last: str, kept: str, partitions: Sequence[int], key: str
) -> str:
    """A row for each group, and for each row of the table.

    ``kept`` declares what is kept of a row of the table; ``key`` are the bytes of a group's key.
    """
    before = f"from_json(CAST({ROW_BEFORE} AS STRING), {text(kept)}, {JSON_OPTIONS}) AS before"
    spread = (
        f"SELECT {TASK}, {ERROR}, {BAD}, {PLACE}, {TIME}, {TIMES}, {_effects()} "
        f"FROM (SELECT *, {before} FROM ({last}))"
    )
    names = {GROUP: "g", KEPT_ROW: "x", ADDED: "added", ROW_STATE_KEY: "key", ROW_NOTE: "note"}
    columns = ", ".join(f"{EFFECT}.{field} AS {name}" for name, field in names.items())
    rows = f"SELECT *, {columns} FROM ({spread}) WHERE {ERROR} IS NOT NULL OR {EFFECT} IS NOT NULL"
    same = f"{TASK}, {ERROR}, {BAD}, {GROUP}, {ROW_STATE_KEY}"
    latest = ", ".join(f"max({TIMES}[{number}])" for number in range(len(partitions)))
    made = [
        f"{_partials(aggregation_of(plan), ADDED)} AS {NEW}",
        f"{_partials(aggregation_of(plan), f'NOT {ADDED}')} AS {GONE}",
        f"max({TIME}) AS {TIME}",
        f"CAST(array({latest}) AS array<bigint>) AS {TIMES}",
        f"first({ROW_NOTE}, true) AS {ROW_NOTE}",
        f"CAST(NULL AS BIGINT) AS {START}",
    ]
    grouped = f"SELECT {same}, {', '.join(made)} FROM ({rows}) GROUP BY {same}"
    return f"SELECT *, CASE WHEN {GROUP} IS NOT NULL THEN {key} END AS {GROUP_KEY} FROM ({grouped})"


def _effects() -> str:
    """What a row of the table has done: taken something back, added something, is kept itself."""
    kept = f"CAST(to_json(struct({GROUP} AS g, {KEPT_ROW} AS x), {JSON_OPTIONS}) AS BINARY)"
    fields = ("g", "x", "added", "key", "note")
    nothing = ("before.g", "before.x", "TRUE", "CAST(NULL AS BINARY)", "CAST(NULL AS BINARY)")
    there = {
        "before IS NOT NULL": ("before.g", "before.x", "FALSE", *nothing[3:]),
        f"{GROUP} IS NOT NULL": (GROUP, KEPT_ROW, "TRUE", *nothing[3:]),
        f"before IS NOT NULL OR {GROUP} IS NOT NULL": (
            *(f"CASE WHEN FALSE THEN {each} END" for each in nothing[:3]),
            ROW_STATE_KEY,
            f"CASE WHEN {GROUP} IS NOT NULL THEN {kept} END",
        ),
    }
    every = ", ".join(
        f"CASE WHEN {when} THEN struct("
        + ", ".join(f"{each} AS {name}" for each, name in zip(values, fields, strict=True))
        + ") END"
        for when, values in there.items()
    )
    return f"explode_outer(filter(array({every}), e -> e IS NOT NULL)) AS {EFFECT}"


def _partials(aggregation: Aggregation, side: str) -> str:
    return _struct("p", [each.partial.replace(SIDE, side) for each in aggregation.foldings])


def group_key(plan: PersistentPlan, sink: Source) -> str:
    """The bytes of the key of a group."""
    return key_of(cells(plan.keys, sink), sink.key_format)


def noted(staged: str) -> str:
    """What the stage of groups gives, in which the rows of the table are records of the state."""
    columns = {
        STATE_KEY: f"coalesce({ROW_STATE_KEY}, {STATE_KEY})",
        NOTE: f"coalesce({ROW_NOTE}, {NOTE})",
        IS_NOTE: f"({ROW_STATE_KEY} IS NOT NULL OR {IS_NOTE})",
    }
    changed = ", ".join(f"{each} AS {name}" for name, each in columns.items())
    return f"SELECT * EXCEPT ({', '.join(columns)}), {changed} FROM ({staged})"
