"""The turn of a persistent query in Spark's SQL: from records of a topic to records for another.

Rows go through these forms, each a view of the one before:

* *records*, as the worker reads them: task, key, value, partition, offset, timestamp, headers;
* *rows*: the columns that are in use as a struct, beside what is needed of the record;
* for a join, records again with ``JOIN_KEY`` and ``TIME``, to which a stage adds ``TABLE_COLUMNS``;
* *output*: task, topic, key, value, timestamp, headers and error, which says why a row is skipped.
"""

# ruff: noqa: S608 - what is put into the text is written by `quoted` and `text`

from __future__ import annotations

from collections.abc import Mapping

from penstock.sql.catalog.connect_schemas import value_schema
from penstock.sql.catalog.source import AVRO, Source
from penstock.sql.planning.decoding import (
    RAW_COLUMNS,
    TEXTS,
    UNREADABLE_VALUE,
    column_texts,
    parsed_of,
    text_columns,
)
from penstock.sql.planning.encoding import Cell, enveloped, key_of, value_of
from penstock.sql.planning.joins import LEFT, RIGHT
from penstock.sql.planning.misfits import KEYLESS, told_misfits
from penstock.sql.planning.moments import timeless
from penstock.sql.planning.persistent import Output, PersistentPlan
from penstock.sql.planning.spark_types import quoted, spark_type, text
from penstock.sql.planning.troubles import either
from penstock.sql.statements.kinds import JoinKind, SourceKind

TIME, JOIN_KEY = "penstock_time", "penstock_join_key"
ERROR, PASSES = "penstock_error", "penstock_passes"
MISFIT = "penstock_misfit"
"""What of the record cannot be read as the column that it is for."""
PARTITION, OFFSET = "penstock_partition", "penstock_offset"
ONCE = "'penstock_once', spark_partition_id()"
"""With this in it, Spark takes a struct for one that could be another each time it is computed. So
it computes it once, where else it would read a column again for each mention of it."""
RECORD = {
    "penstock_task": "task",
    "penstock_key": "key",
    "penstock_value": "value",
    "penstock_headers": "headers",
    PARTITION: "partition",
    OFFSET: "offset",
}
"""What is kept of a record beside its columns, under names that no user has."""
TABLE_COLUMNS = {
    "key": ("table_key", "BINARY"),
    "value": ("table_value", "BINARY"),
    "partition": ("table_partition", "INT"),
    "offset": ("table_offset", "BIGINT"),
    "timestamp": ("table_timestamp", "TIMESTAMP"),
}
"""The record of the right side, as the stage of a join adds it."""
PAIRED, PAIR_TIME, PAIR_ERROR = "penstock_paired", "penstock_pair_time", "penstock_pair_error"
"""Of a pair (``pair_text``): whether there is a row, its time, or why there is none."""


def computed(plan: PersistentPlan, records: str) -> str:
    """The columns that come out, for Spark to tell their types."""
    columns = (f"{each.text} AS {quoted(each.name)}" for each in plan.outputs)
    return f"SELECT {', '.join(columns)} FROM ({_rows(plan, records, [])})"


def keyed(plan: PersistentPlan, records: str) -> str:
    """The key that a join looks for, under its own type."""
    assert plan.join is not None  # noqa: S101 (asked for joins only)
    return f"SELECT {plan.join.key} AS {JOIN_KEY} FROM ({_left(plan, records)})"


def looking_up(plan: PersistentPlan, records: str) -> str:
    """Records with the bytes of the key that is looked up in the table, and their time.

    Rows without a key are left out, unless there is something wrong with them.
    """
    join = plan.join
    assert join is not None  # noqa: S101 (asked for joins only)
    wrong = _wrong(plan)
    cell = Cell("", join.table.keys[0].type, join.key)
    key = f"CASE WHEN NOT {wrong} THEN {key_of([cell], join.table.key_format)} END"
    texts = text_columns(plan.source)
    names = [*(f"{inner} AS {name}" for inner, name in RECORD.items()), "timestamp", TIME, *texts]
    rows = f"SELECT *, {key} AS {JOIN_KEY} FROM ({_left(plan, records, texts)})"
    return (
        f"SELECT {', '.join(names)}, {JOIN_KEY} FROM ({rows}) "
        f"WHERE penstock_value IS NOT NULL AND ({JOIN_KEY} IS NOT NULL OR {wrong})"
    )


def output(plan: PersistentPlan, sink: Source, records: str) -> str:
    """The records to produce; ``records`` of a join are those that the stage has added to."""
    fine = f"{ERROR} IS NULL"
    columns = {
        "task": "penstock_task",
        "topic": text(sink.topic),
        "key": f"CASE WHEN {fine} THEN {_key(plan, sink)} ELSE penstock_key END",
        "value": f"CASE WHEN {fine} THEN {_value(plan, sink)} ELSE penstock_value END",
        "timestamp": timestamp_of(plan, sink),
        "headers": "penstock_headers",
        "error": ERROR,
    }
    chosen = ", ".join(f"{each} AS {name}" for name, each in columns.items())
    return f"SELECT {chosen} FROM ({judged(plan, records)}) WHERE {_kept(plan)}"


def judged(plan: PersistentPlan, records: str, more: list[str] | None = None) -> str:
    """Rows with ``PASSES`` and ``ERROR``; ``more`` are further columns of ``records`` to keep."""
    passing = f"SELECT *, {_passes(plan)} AS {PASSES} FROM ({_rows(plan, records, more or [])})"
    return f"SELECT *, {_error(plan)} AS {ERROR} FROM ({passing})"


def _kept(plan: PersistentPlan) -> str:
    """A table has a row for each change: a tombstone where the row does not pass."""
    if plan.source.kind is SourceKind.TABLE:
        return f"(penstock_key IS NOT NULL OR {ERROR} IS NOT NULL)"
    return f"penstock_value IS NOT NULL AND ({PASSES} OR {ERROR} IS NOT NULL)"


# Rows.


def _rows(plan: PersistentPlan, records: str, more: list[str]) -> str:
    if plan.right is None:
        return _left(plan, records, more)
    table = [name for name, _ in TABLE_COLUMNS.values()]
    return _right(plan, _left(plan, records, [*table, *more]), plan.right.in_json(), more)


def _left(plan: PersistentPlan, records: str, more: list[str] | None = None) -> str:
    source = plan.source.in_json() if plan.pairing else plan.source
    kept = ["task", *(more or [])]
    parsed = parsed_of(source, records, latest=False, more=kept)
    texts = column_texts(source)
    record = [f"{name} AS {inner}" for inner, name in RECORD.items()]
    record += ["timestamp", *(more or [])]
    unreadable = UNREADABLE_VALUE if source.has_objects else "FALSE"
    columns = [
        *record,
        f"{texts['ROWTIME']} AS {TIME}",
        f"({unreadable}) AS penstock_unreadable",
        f"{told_misfits(source, used_columns(plan, LEFT))} AS {MISFIT}",
        f"{column_struct(plan, LEFT, texts)} AS {LEFT}",
    ]
    return f"SELECT {', '.join(columns)} FROM ({parsed})"


def _right(plan: PersistentPlan, left: str, table: Source, more: list[str]) -> str:
    """The columns of the right side beside those of the left one; NULL where it has no row."""
    kept = [*RECORD, TIME, "penstock_unreadable", MISFIT, LEFT, *more]
    renamed = [f"{name} AS {plain}" for plain, (name, _) in TABLE_COLUMNS.items()]
    headers = "CAST(NULL AS array<struct<key:string,value:binary>>) AS headers"
    raw = f"SELECT {', '.join([*renamed, headers, *kept])} FROM ({left})"
    parsed = parsed_of(table, f"({raw})", latest=False, more=kept)
    struct = column_struct(plan, RIGHT, column_texts(table))
    found = "value IS NOT NULL"
    misfit = told_misfits(table, used_columns(plan, RIGHT), of=f" in table {table.name}")
    # Of a pair that is there no more, the key of either side is still to be told.
    chosen = struct if plan.pairing else f"CASE WHEN {found} THEN {struct} END"
    columns = [
        *(each for each in kept if each != MISFIT),
        f"coalesce({MISFIT}, {misfit}) AS {MISFIT}",
        f"({found}) AS penstock_found",
        f"{chosen} AS {RIGHT}",
    ]
    return f"SELECT {', '.join(columns)} FROM ({parsed})"


def column_struct(plan: PersistentPlan, side: str, texts: dict[str, str]) -> str:
    """The columns of a side that are in use."""
    fields = [f"{text(name)}, {texts[name]}" for name in used_columns(plan, side)]
    return f"named_struct({', '.join([*fields, ONCE])})"


def used_columns(plan: PersistentPlan, side: str) -> list[str]:
    """The names of the columns of a side that are in use."""
    return sorted(name for of, name in plan.used if of == side)


# What is wrong with a row, and whether it passes.


def _wrong(plan: PersistentPlan) -> str:
    """Before the join: whether nothing can be looked up for this row."""
    trouble = plan.join.key_trouble if plan.join else ""
    misfit = f"({MISFIT} IS NOT NULL)"
    return f"({either('penstock_unreadable', misfit, f'({TIME} IS NULL)', trouble)})"


def _error(plan: PersistentPlan) -> str:
    """Why the row cannot be computed; NULL if it can."""
    if plan.pairing is not None:
        return _pair_error(plan)
    there = "penstock_value IS NOT NULL"
    no_time = f"{TIME} IS NULL" if plan.source.timestamp else ""
    trouble = plan.join.key_trouble if plan.join else ""
    cases = {
        KEYLESS: "penstock_key IS NULL" if plan.source.kind is SourceKind.TABLE else "",
        plan.source.unreadable: "penstock_unreadable",
        timeless(plan.source.timestamp): _both(there, no_time),
        "Error computing the key of the join": _both(there, trouble),
        "Error computing the condition in WHERE": _both(there, plan.where_trouble),
        **_column_errors(plan),
    }
    told = [f"WHEN {when} THEN {text(what)}" for what, when in cases.items() if when]
    told.append(f"WHEN {MISFIT} IS NOT NULL THEN {MISFIT}")
    return f"CASE {' '.join(told)} END"


def _pair_error(plan: PersistentPlan) -> str:
    cases = {
        "Error computing the condition in WHERE": _both(PAIRED, plan.where_trouble),
        **_column_errors(plan),
    }
    told = [f"WHEN {when} THEN {text(what)}" for what, when in cases.items() if when]
    return f"CASE WHEN {PAIR_ERROR} IS NOT NULL THEN {PAIR_ERROR} {' '.join(told)} END"


def _column_errors(plan: PersistentPlan) -> dict[str, str]:
    if plan.aggregation is not None:
        trouble = plan.aggregation.group_trouble
        return {"Error computing what is grouped or aggregated": _both(PASSES, trouble)}
    return {f"Error computing column {o.name}": _both(PASSES, o.trouble) for o in plan.outputs}


def _both(condition: str, trouble: str) -> str:
    return f"({condition} AND {trouble})" if trouble else ""


def _passes(plan: PersistentPlan) -> str:
    """Whether the row is in the result; never NULL."""
    conditions = ["penstock_value IS NOT NULL", "NOT penstock_unreadable"]
    if plan.pairing is not None:
        conditions = [f"coalesce({PAIRED}, FALSE)"]
    if plan.where:
        conditions.append(f"coalesce({plan.where}, FALSE)")
    if plan.join is not None and plan.join.kind is JoinKind.INNER:
        conditions.append("penstock_found")
    return f"({' AND '.join(conditions)})"


# Records.


def cells(outputs: tuple[Output, ...], sink: Source) -> list[Cell]:
    """Columns of a record, under the types that the sink has."""
    types = {column.name: column.type for column in sink.columns}
    return [
        Cell(each.name, types[each.name], f"CAST({each.text} AS {spark_type(types[each.name])})")
        for each in outputs
    ]


def _key(plan: PersistentPlan, sink: Source) -> str:
    # A key of Avro names its schema, which the registry has under its topic's name.
    if plan.same_key and sink.key_format == plan.source.key_format != AVRO:
        return "penstock_key"
    return key_of(cells(plan.keys, sink), sink.key_format)


def _value(plan: PersistentPlan, sink: Source) -> str:
    encoded = encoded_value(plan, sink)
    of_table = plan.source.kind is SourceKind.TABLE
    return f"CASE WHEN {PASSES} THEN {encoded} END" if of_table else encoded


def encoded_value(plan: PersistentPlan, sink: Source) -> str:
    """The bytes of a value, as the sink's format has them."""
    encoded = value_of(cells(plan.values, sink), sink.value_format, sink.delimiter)
    return enveloped(encoded, value_schema(sink.values)) if sink.with_schema else encoded


def timestamp_of(plan: PersistentPlan, sink: Source, time: str = TIME) -> str:
    """The row's own time, or the column that the sink's TIMESTAMP names."""
    chosen = next((each for each in plan.outputs if each.name == sink.timestamp), None)
    if chosen is None:
        return f"timestamp_millis({time})"
    kind = next(column.type.name for column in sink.columns if column.name == sink.timestamp)
    return chosen.text if kind == "TIMESTAMP" else f"timestamp_millis({chosen.text})"


def empty_records(*, joined: bool, more: Mapping[str, str] | None = None) -> str:
    """No records, with the columns that there would be."""
    types = {"key": "BINARY", "value": "BINARY", "partition": "INT", "offset": "BIGINT"}
    types |= {"timestamp": "TIMESTAMP", "headers": "array<struct<key:string,value:binary>>"}
    columns = {name: types[name] for name in RAW_COLUMNS.split(", ")}
    columns |= {"task": "INT", "topic": "STRING"}
    columns |= TEXTS
    columns |= dict(TABLE_COLUMNS.values()) if joined else {}
    columns |= more or {}
    chosen = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in columns.items())
    return f"(SELECT {chosen} WHERE FALSE)"
