"""The turn of a join of two streams, or of two tables, in Spark's SQL.

Rows go through these forms, each a view of the one before:

* *records* of both topics, as the worker reads them, with Avro as JSON;
* *sided*: the same with ``SIDED``: which side they are of, the key that the sides have in common,
  and their time;
* *paired*: a stage turns them into pairs: the record of the left side, with that of the right side
  in ``TABLE_COLUMNS`` and ``PAIR_COLUMNS``. Further rows are records of the state as they are, and
  records that cannot be joined, with the reason;
* *changes*: the records to produce.
"""

# ruff: noqa: S608 - what is put into the text is written by `quoted` and `text`

from __future__ import annotations

from penstock.sql.catalog.source import Source
from penstock.sql.planning.aggregate_text import JSON_OPTIONS, record
from penstock.sql.planning.decoding import RAW_COLUMNS, column_texts, parsed_of
from penstock.sql.planning.encoding import key_of
from penstock.sql.planning.joins import LEFT, RIGHT, Pairing
from penstock.sql.planning.misfits import told_misfits
from penstock.sql.planning.moments import timeless
from penstock.sql.planning.persistent import PersistentPlan
from penstock.sql.planning.spark_types import text
from penstock.sql.planning.turn_text import (
    ERROR,
    JOIN_KEY,
    MISFIT,
    PAIR_ERROR,
    PAIR_TIME,
    PAIRED,
    PASSES,
    TABLE_COLUMNS,
    TIME,
    cells,
    column_struct,
    encoded_value,
    judged,
    timestamp_of,
    used_columns,
)

SIDE, SIDE_ERROR, GIVEN = "penstock_side", "penstock_side_error", "penstock_given"
SIDED = {SIDE: "INT", JOIN_KEY: "BINARY", TIME: "BIGINT", SIDE_ERROR: "STRING"}
STATE_KEY, NOTE, SHOWN = "penstock_state_key", "penstock_note", "penstock_shown"
RECORD_COLUMNS = {
    "task": "INT",
    "key": "BINARY",
    "value": "BINARY",
    "partition": "INT",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMP",
    "headers": "array<struct<key:string,value:binary>>",
}
PAIR_COLUMNS = {
    PAIRED: "BOOLEAN",
    PAIR_TIME: "BIGINT",
    PAIR_ERROR: "STRING",
    STATE_KEY: "BINARY",
    NOTE: "BINARY",
    SHOWN: "BOOLEAN",
}
"""Whether there is a row, its time, or why there is none; what is to be stored under which key;
and of tables, whether the row had come out before, else NULL."""
NO_BYTES = "CAST(NULL AS BINARY)"


def sided(plan: PersistentPlan, records: str) -> str:
    """Records with ``SIDED``."""
    pairing = pairing_of(plan)
    fixed = ["task", "topic", GIVEN]
    plain = ", ".join([*(c for c in RAW_COLUMNS.split(", ") if c != "value"), "task", "topic"])
    rows = f"SELECT {plain}, value AS {GIVEN} FROM {records}"
    found: list[str] = []
    for number, source in enumerate((plan.source, pairing.right)):
        mine = f"SELECT *, CASE WHEN topic = {text(source.topic)} THEN {GIVEN} END AS value"
        told = _side(plan, number, f"({mine} FROM ({rows}))", [*fixed, *found])
        found += [f"{each}_{number}" for each in (JOIN_KEY, TIME, SIDE_ERROR)]
        rows = f"SELECT {plain}, {GIVEN}, {', '.join(found)} FROM ({told})"
    is_left = f"topic = {text(plan.source.topic)}"
    chosen = {
        SIDE: f"CASE WHEN {is_left} THEN 0 ELSE 1 END",
        **{
            each: f"CASE WHEN {is_left} THEN {each}_0 ELSE {each}_1 END"
            for each in (JOIN_KEY, TIME, SIDE_ERROR)
        },
    }
    columns = [f"{GIVEN} AS value" if name == "value" else name for name in RECORD_COLUMNS]
    columns += [f"{each} AS {name}" for name, each in chosen.items()]
    return f"SELECT {', '.join(columns)} FROM ({rows})"


def _side(plan: PersistentPlan, number: int, records: str, more: list[str]) -> str:
    """Records with what the side of that number has to say about them."""
    pairing = pairing_of(plan)
    side, source = ((LEFT, plan.source), (RIGHT, pairing.right))[number]
    form = source.in_json()
    parsed = parsed_of(form, records, latest=False, more=more)
    texts = column_texts(form)
    unreadable = "value IS NOT NULL AND v IS NULL" if form.has_objects else "FALSE"
    # A tombstone has no column that could be its time.
    time = f"CASE WHEN value IS NULL THEN unix_millis(timestamp) ELSE {texts['ROWTIME']} END"
    kept = [*RAW_COLUMNS.split(", "), *more]
    misfit = told_misfits(form, used_columns(plan, side))
    rows = (
        f"SELECT {', '.join(kept)}, ({unreadable}) AS penstock_unreadable, {time} AS {TIME}, "
        f"{misfit} AS {MISFIT}, "
        f"{column_struct(plan, side, texts)} AS {side} FROM ({parsed})"
    )
    there, trouble = "value IS NOT NULL", pairing.key_troubles[number]
    cases = {
        source.unreadable: "penstock_unreadable",
        timeless(source.timestamp): f"{TIME} IS NULL",
        "Error computing the key of the join": trouble or "FALSE",
    }
    told = " ".join(f"WHEN {there} AND {when} THEN {text(what)}" for what, when in cases.items())
    key = f"to_json(array({pairing.keys[number]}), {JSON_OPTIONS})"
    columns = {
        JOIN_KEY: f"CAST(CASE WHEN {pairing.keys[number]} IS NOT NULL THEN {key} END AS BINARY)",
        TIME: TIME,
        SIDE_ERROR: f"CASE {told} WHEN {there} THEN {MISFIT} END",
    }
    named = ", ".join(f"{each} AS {name}_{number}" for name, each in columns.items())
    return f"SELECT {', '.join(kept)}, {named} FROM ({rows})"


def compared(plan: PersistentPlan, paired: str) -> str:
    """What is compared, for Spark to tell the types."""
    left, right = pairing_of(plan).keys
    return f"SELECT {left} AS l, {right} AS r FROM ({judged(plan, paired, MORE)})"


def changes(plan: PersistentPlan, sink: Source, state_topic: str, paired: str) -> str:
    """The records to produce: what comes out, then what is to be stored."""
    made = [_result(plan, sink), _state(state_topic)]
    listed = f"filter(array({', '.join(made)}), r -> r IS NOT NULL)"
    rows = f"SELECT penstock_task, explode({listed}) AS r FROM ({judged(plan, paired, MORE)})"
    return f"SELECT penstock_task AS task, r.* FROM ({rows})"


MORE = [*PAIR_COLUMNS]


def _result(plan: PersistentPlan, sink: Source) -> str:
    key = key_of(cells(plan.keys, sink), sink.key_format)
    time, headers = timestamp_of(plan, sink, PAIR_TIME), "penstock_headers"
    wrong = record(sink.topic, "penstock_key", "penstock_value", headers=headers, error=ERROR)
    cases = {
        f"{ERROR} IS NOT NULL": wrong,
        PASSES: record(sink.topic, key, encoded_value(plan, sink), timestamp=time, headers=headers),
        SHOWN: record(sink.topic, key, NO_BYTES, timestamp=time),
    }
    return f"CASE {' '.join(f'WHEN {when} THEN {each}' for when, each in cases.items())} END"


def _state(topic: str) -> str:
    """The record of the state's topic; of a row of tables with whether it is there now."""
    shown = f"CASE WHEN {ERROR} IS NULL THEN {PASSES} ELSE {SHOWN} END"
    flag = f"CASE WHEN {shown} THEN X'01' ELSE X'00' END"
    value = f"CASE WHEN {SHOWN} IS NULL THEN {NOTE} ELSE concat({flag}, {NOTE}) END"
    return f"CASE WHEN {STATE_KEY} IS NOT NULL THEN {record(topic, STATE_KEY, value)} END"


def pairing_of(plan: PersistentPlan) -> Pairing:
    """That of a query that has one."""
    assert plan.pairing is not None  # noqa: S101 (asked for joins of a kind only)
    return plan.pairing


PAIRED_COLUMNS = {**RECORD_COLUMNS, **dict(TABLE_COLUMNS.values()), **PAIR_COLUMNS}
"""What the stage gives."""
