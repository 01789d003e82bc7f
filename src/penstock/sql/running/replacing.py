"""CREATE OR REPLACE … AS SELECT: another statement for a query, which goes on where it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.catalog.source import Source, column_list
from penstock.sql.errors import NotSupportedYet, StatementError
from penstock.sql.planning.persistent import PersistentPlan
from penstock.sql.running.home import Home
from penstock.sql.running.query_changes import still_reading
from penstock.sql.running.results import Result, message
from penstock.sql.statements.types import ColumnDef

FIXED = {
    "name": "its name is {}",
    "kind": "it is a {}",
    "topic": "its topic is {}",
    "key_format": "its KEY_FORMAT is {}",
    "value_format": "its VALUE_FORMAT is {}",
    "delimiter": "its VALUE_DELIMITER is {}",
    "timestamp": "its TIMESTAMP is {}",
    "with_schema": "its JSON_SCHEMAS_ENABLE is {}",
}
"""What readers of the topic rely on."""


def replaceable(home: Home, taken: Source, plan: PersistentPlan, sink: Source) -> PersistentQuery:
    """The query that may get this plan and sink; SqlError, which says why not, if none may."""
    query = _query_of(home, taken)
    if query.state_topic or plan.has_state:
        raise NotSupportedYet(
            "CREATE OR REPLACE of a query with aggregates, or with a join of two streams or two "
            f"tables. Begin another: TERMINATE {query.id}; DROP {taken.kind} {taken.name};"
        )
    _refuse_other_input(query, plan)
    _refuse_other_sink(taken, sink)
    return query


def _query_of(home: Home, taken: Source) -> PersistentQuery:
    writing = home.catalog.queries().values()
    found = [
        q for q in writing if q.sink.name == taken.name and q.id.startswith(("CSAS_", "CTAS_"))
    ]
    if not found:
        raise StatementError(
            f"There is no query that {taken.name} was created by: what it is cannot be replaced. "
            f"DROP {taken.kind} {taken.name}; and create it again."
        )
    return found[0]


def _refuse_other_input(query: PersistentQuery, plan: PersistentPlan) -> None:
    was = query.sources[0]
    if (was.topic, was.kind) != (plan.source.topic, plan.source.kind):
        raise StatementError(
            f"Query {query.id} reads topic {was.topic}, and goes on where it is: the SELECT that "
            f"replaces it cannot read topic {plan.source.topic} instead."
        )


def _refuse_other_sink(was: Source, now: Source) -> None:
    for name, told in FIXED.items():
        if (before := getattr(was, name)) != getattr(now, name):
            shown = str(before).lower() if isinstance(before, bool) else before or "not set"
            raise StatementError(f"Cannot replace {was.name}: {told.format(shown)}.")
    if _shape(was.keys) != _shape(now.keys):
        raise StatementError(
            f"Cannot replace {was.name}: its key is {column_list(was.keys) or 'none'}."
        )
    if _shape(was.values) != _shape(now.values)[: len(was.values)]:
        raise StatementError(
            f"Cannot replace {was.name}: its columns {column_list(was.values)} have to come first, "
            "in this order. Further ones may follow."
        )


def _shape(columns: tuple[ColumnDef, ...]) -> list[tuple[str, str]]:
    return [(column.name, str(column.type)) for column in columns]


def replaced(
    home: Home,
    taken: Source,
    before: PersistentQuery,
    query: PersistentQuery,
    config: Mapping[str, str],
) -> Result:
    """Let ``query``, of the same id, take the place of ``before``; ``config`` runs it.

    ``taken`` is its sink as it is declared by now.

    Offsets stay, so that it goes on with the next record. Where that fails, all is as it was.
    """
    catalog = home.catalog
    try:
        catalog.put(query.sink)
        number = catalog.put_query(query)
        home.connect.put_config(query.id, config)
    except BaseException:
        catalog.put_query(before)
        catalog.put(taken)
        raise
    other = still_reading(home, query.sink.name, but=query.id)
    told = message(
        f"Replaced query with ID {query.id}",
        commandId=f"{query.sink.kind.lower()}/`{query.sink.name}`/create",
        commandSequenceNumber=number,
        queryId=query.id,
    )
    return replace(told, warnings=other)
