"""CREATE … AS SELECT and INSERT INTO … SELECT: queries that go on by themselves."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.kafka import topics
from penstock.sdk.errors import PenstockError
from penstock.sql.avro.columns import register
from penstock.sql.catalog.query import BOOTSTRAP, PersistentQuery
from penstock.sql.catalog.source import Source, column_list
from penstock.sql.errors import AlreadyExists, StatementError
from penstock.sql.persistent.aggregating import aggregated
from penstock.sql.persistent.columns import analysed, columns_of_query, told
from penstock.sql.persistent.pair_stages import PairAccess
from penstock.sql.persistent.pairing import paired
from penstock.sql.persistent.state_stages import StateAccess
from penstock.sql.planning.persistent import PersistentPlan, planned_persistent
from penstock.sql.planning.turn_text import empty_records, output
from penstock.sql.running import reading, sources, state_topics
from penstock.sql.running.home import Home
from penstock.sql.running.inserting import writable
from penstock.sql.running.replacing import replaceable, replaced
from penstock.sql.running.results import Result, message, warning
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.queries import CreateAs, InsertSelect, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.sql.statements.types import ColumnDef

RESET = "auto.offset.reset"
PREFIXES = {SourceKind.STREAM: "CSAS", SourceKind.TABLE: "CTAS"}
KEPT = {RESET: ("earliest", "latest"), BOOTSTRAP: ("true", "none", "false")}
"""The properties of a session that a query keeps, and their values."""


@dataclass(frozen=True)
class Said:
    """A statement's text, and what the session has defined and set."""

    text: str
    variables: Mapping[str, str]
    properties: Mapping[str, str]


def create_as(home: Home, statement: CreateAs, said: Said) -> Result:
    """Begin a query, and declare the stream or table that it writes."""
    _refuse_unknown_values(said)
    taken = home.catalog.find(statement.name)
    if taken is not None and not statement.or_replace:
        return _already(taken, statement)
    plan = _planned(home, statement.query, statement.name)
    _refuse_kind(plan, statement.kind)
    sink = _sink(home, statement, plan, columns_of_query(home.spark(), plan))
    sink = replace(sink, statement=said.text)
    _check_output(home, plan, sink)
    before = replaceable(home, taken, plan, sink) if taken is not None else None
    register(home.registry, sink)
    _make_topic(home, statement, plan, sink)
    if taken is not None and before is not None:
        query = _query(before.id, plan, sink, said)
        config = query.connector_config(_partitions(home, plan.source))
        return replaced(home, taken, before, query, config)
    prefix = PREFIXES[statement.kind]
    id_ = f"{prefix}_{sink.name}_{home.catalog.changes()}"
    return _begun(home, plan, _query(id_, plan, sink, said), new=True)


def insert_select(home: Home, statement: InsertSelect, said: Said) -> Result:
    """Begin a query that writes to a stream that there is."""
    _refuse_unknown_values(said)
    sink = writable(home, statement.target)
    if sink.kind is not SourceKind.STREAM:
        raise StatementError(
            f"INSERT INTO can only be used to insert into a stream. {sink.name} is a table."
        )
    plan = _planned(home, statement.query, sink.name)
    _refuse_kind(plan, SourceKind.STREAM)
    columns = columns_of_query(home.spark(), plan)
    _refuse_other_columns(columns, sink)
    _check_output(home, plan, sink)
    register(home.registry, sink)
    return _begun(home, plan, _query(_given_id(home, statement), plan, sink, said), new=False)


def explained(home: Home, query: Query, sink: str) -> str:
    """Spark's plan of a query that would persist."""
    plan = _planned(home, query, sink)
    columns = columns_of_query(home.spark(), plan)
    declared = Source(plan.kind, sink, sink, columns)
    return str(_frame(home, plan, declared)._jdf.queryExecution().toString())


def _frame(home: Home, plan: PersistentPlan, sink: Source) -> DataFrame:
    """What a turn over nothing gives."""
    spark = home.spark()
    if not plan.has_state:
        return analysed(spark, output(plan, sink, empty_records(joined=bool(plan.join))))
    records = analysed(spark, f"SELECT * FROM {empty_records(joined=bool(plan.join))}")  # noqa: S608 (written by this package)
    if plan.pairing is not None or plan.aggregation is None:
        nothing = PairAccess(StateAccess(None, "", (), None), {})
        return told(lambda: paired(records, plan, sink, "", nothing))
    access = StateAccess(None, "", (), plan.aggregation.window)
    return told(lambda: aggregated(records, plan, sink, "", access))


# Before it begins.


def _refuse_unknown_values(said: Said) -> None:
    for key, values in KEPT.items():
        given = said.properties.get(key, values[0])
        if given.lower() not in values:
            first, second = values[:2]
            raise StatementError(f"'{key}' is '{first}' or '{second}', not '{given}'.")


def _already(taken: Source, statement: CreateAs) -> Result:
    if statement.if_not_exists:
        return warning(f"{taken.kind.capitalize()} {taken.name} already exists")
    raise AlreadyExists(f"A {taken.kind.lower()} with the name {taken.name} already exists.")


def _planned(home: Home, query: Query, sink: str) -> PersistentPlan:
    plan = planned_persistent(query, home.catalog.source, sink)
    for source in plan.sources:
        home.refuse_closed(source.topic)
    by_key = (each is not None and each.by_key for each in (plan.join, plan.pairing))
    if plan.right is not None and any(by_key):
        _refuse_uneven(home, plan.source, plan.right)
    return plan


def _refuse_uneven(home: Home, stream: Source, table: Source) -> None:
    counts = topics.partitions_of(home.catalog.admin, [stream.topic, table.topic])
    left, right = counts[stream.topic], counts[table.topic]
    if left != right:
        raise StatementError(
            f"Can't join `{stream.name}` with `{table.name}` since the number of partitions don't "
            f"match. `{stream.name}` partitions = {left}; `{table.name}` partitions = {right}. "
            "Please repartition either one so that the number of partitions match."
        )


def _refuse_kind(plan: PersistentPlan, wanted: SourceKind) -> None:
    found = plan.kind
    if found != wanted:
        raise StatementError(
            f"Invalid result type. Your SELECT query produces a {found}. "
            f"Please use CREATE {found} AS SELECT statement instead."
        )


def _sink(
    home: Home, statement: CreateAs, plan: PersistentPlan, columns: tuple[ColumnDef, ...]
) -> Source:
    """The stream or table that comes out; formats are those of what is read, unless given."""
    given = sources.checked_properties(statement.properties)
    topic = given.get("KAFKA_TOPIC") or given.get("TOPIC") or statement.name
    home.refuse_closed(topic)
    delimiter = given.get("VALUE_DELIMITER", plan.source.delimiter)
    value_format = sources.chosen_format(given, "VALUE_FORMAT", plan.source.value_format)
    window = plan.aggregation.window if plan.aggregation else None
    return Source(
        statement.kind,
        statement.name,
        topic,
        columns,
        sources.chosen_format(given, "KEY_FORMAT", plan.source.key_format),
        value_format,
        sources.DELIMITERS.get(delimiter.upper(), delimiter),
        sources.time_column(given, columns),
        with_schema=sources.schemas_enabled(given, value_format),
        window=window.kind if window else None,
        window_size=window.size if window else 0,
    )


def _make_topic(home: Home, statement: CreateAs, plan: PersistentPlan, sink: Source) -> None:
    """One that is not there has as many partitions as what is read, unless it is said."""
    given = sources.checked_properties(statement.properties)
    if not topics.partitions_of(home.catalog.admin, [sink.topic])[sink.topic]:
        given.setdefault("PARTITIONS", str(_partitions(home, plan.source)))
    sources.ensure_topic(home, sink.topic, given, compacted=sink.kind is SourceKind.TABLE)


def _refuse_circle(plan: PersistentPlan, sink: Source) -> None:
    if any(source.topic == sink.topic for source in plan.sources):
        raise StatementError(f"The query would read what it writes: topic {sink.topic}.")


def _partitions(home: Home, source: Source) -> int:
    return len(reading.ends(home.catalog.admin, source.topic))


def _check_output(home: Home, plan: PersistentPlan, sink: Source) -> None:
    """Report now, not in its first turn, what the query cannot write."""
    _refuse_circle(plan, sink)
    _frame(home, plan, sink)


def _refuse_other_columns(columns: tuple[ColumnDef, ...], sink: Source) -> None:
    found = [(c.name, c.type, c.is_key) for c in columns]
    wanted = [(c.name, c.type, c.is_key) for c in (*sink.keys, *sink.values)]
    if found != wanted:
        raise StatementError(
            "Incompatible schema between results and sink. "
            f"Result schema is {column_list(columns)}, but the sink schema is "
            f"{column_list((*sink.keys, *sink.values))}."
        )


def _given_id(home: Home, statement: InsertSelect) -> str:
    given = {key.upper(): value or "" for key, value in statement.properties}
    if unknown := next((key for key in given if key != "QUERY_ID"), None):
        raise StatementError(f"WITH of INSERT INTO has QUERY_ID only, not {unknown}.")
    chosen = given.get("QUERY_ID", "").upper()
    if chosen and chosen in home.catalog.queries():
        raise AlreadyExists(f"Query ID '{chosen}' already exists.")
    return chosen or f"INSERTQUERY_{home.catalog.changes()}"


# The query itself.


def _query(id_: str, plan: PersistentPlan, sink: Source, said: Said) -> PersistentQuery:
    store = f"{id_}-{uuid.uuid4().hex}"
    return PersistentQuery(
        id_,
        said.text,
        plan.sources,
        sink,
        {n: value for n, value in said.variables.items() if n.lower() in said.text.lower()},
        {key: value for key, value in said.properties.items() if key in KEPT},
        store,
        f"_penstock-{store}-state" if plan.has_state else "",
        len(plan.sources) if plan.pairing else 1,
    )


def _begun(home: Home, plan: PersistentPlan, query: PersistentQuery, *, new: bool) -> Result:
    """Store it, then run it; nothing of it is stored if it cannot run."""
    catalog, number = home.catalog, 0
    try:
        state_topics.make(home, query)
        if new:
            catalog.put(query.sink)
        number = catalog.put_query(query)
        _run(home, query, 1 if query.state_topic else _partitions(home, plan.source))
    except BaseException:
        catalog.remove_query(query.id)
        if new:
            catalog.remove(query.sink.name)
        state_topics.delete(home, query)
        raise
    kind = query.sink.kind.lower()
    return message(
        f"Created query with ID {query.id}",
        commandId=f"{kind}/`{query.sink.name}`/create",
        commandSequenceNumber=number,
        queryId=query.id,
    )


def _run(home: Home, query: PersistentQuery, partitions: int) -> None:
    """Make the connector that runs it, and tell it where to begin.

    It says so even for the beginning: an earlier query of the same id may have left offsets.
    """
    admin = home.catalog.admin
    # What is not read from a table could not be taken back when it changes.
    of_table = query.sources[0].kind is SourceKind.TABLE
    usual = "earliest" if query.state_topic and of_table else "latest"
    earliest = query.properties.get(RESET, usual).lower() == "earliest"
    begin = reading.beginnings if earliest else reading.ends
    offsets = [each for topic in query.topics for each in _offsets(topic, begin(admin, topic))]
    home.connect.create(query.id, query.connector_config(partitions), "STOPPED")
    try:
        home.connect.alter_offsets(query.id, offsets)
        home.connect.resume(query.id)
    except BaseException:
        with suppress(PenstockError):
            home.connect.delete(query.id)
        raise


def _offsets(topic: str, begin: Mapping[int, int]) -> list[dict[str, dict[str, object]]]:
    return [
        {
            "partition": {"kafka_topic": topic, "kafka_partition": partition},
            "offset": {"kafka_offset": offset},
        }
        for partition, offset in begin.items()
    ]
