"""TERMINATE, PAUSE, RESUME, SHOW QUERIES and EXPLAIN of persistent queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from penstock.sdk.errors import PenstockError
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.catalog.source import column_list
from penstock.sql.connecting.connect_api import Connect, status_of
from penstock.sql.errors import StatementError, nearest
from penstock.sql.running import reading, state_topics
from penstock.sql.running.home import Home
from penstock.sql.running.results import Grid, Lines, Part, Result, message
from penstock.sql.statements.queries import ChangeQuery

Json = dict[str, Any]
NOT_FOUND = 404
DONE = {"terminate": "Terminated", "pause": "Paused", "resume": "Resumed"}
HEADINGS = ("Query ID", "Query Type", "Status", "Sink Name", "Sink Kafka Topic", "Query String")
STATES = {"FAILED": "ERROR", "UNASSIGNED": "REBALANCING"}
"""Kafka Connect's words, where ksqlDB has another."""


def change(home: Home, statement: ChangeQuery) -> Result:
    """Do it with one query, or with all."""
    chosen = _chosen(home, statement)
    for query in chosen:
        _CHANGES[statement.verb](home, query)
    told = ", ".join(f'"{query.id}"' for query in chosen) or "none: there are no queries"
    return message(
        f"{DONE[statement.verb]} quer{'y' if len(chosen) < 2 else 'ies'} {told}",
        commandId=f"{statement.verb}/{statement.query_id}/execute",
        commandSequenceNumber=home.catalog.changes(),
    )


def _chosen(home: Home, statement: ChangeQuery) -> list[PersistentQuery]:
    known = home.catalog.queries()
    if statement.query_id == "ALL":
        return list(known.values())
    return [named(home, statement.query_id, statement.verb)]


def named(home: Home, id_: str, verb: str = "") -> PersistentQuery:
    """The query of that id, whatever its case; StatementError with the nearest if there is none."""
    known = home.catalog.queries()
    found = next((query for each, query in known.items() if each.upper() == id_.upper()), None)
    if found is None:
        connector = f" For a connector: {verb.upper()} CONNECTOR {id_};" if _has(home, id_) else ""
        raise StatementError(f"Unknown queryId: {id_}.{nearest(id_, known)}{connector}")
    return found


def _has(home: Home, name: str) -> bool:
    try:
        return name in home.connect.connectors()
    except PenstockError:
        return False


def _terminate(home: Home, query: PersistentQuery) -> None:
    try:
        home.connect.delete(query.id)
    except PenstockError as error:
        if status_of(error) != NOT_FOUND:
            raise
    home.catalog.remove_query(query.id)
    state_topics.delete(home, query)


def _pause(home: Home, query: PersistentQuery) -> None:
    home.connect.pause(query.id)


def _resume(home: Home, query: PersistentQuery) -> None:
    home.connect.resume(query.id)


_CHANGES = {"terminate": _terminate, "pause": _pause, "resume": _resume}


def show(home: Home) -> Result:
    """Persistent queries, and those that clients listen to."""
    catalog = home.known_catalog()
    lasting = list(catalog.queries().values()) if catalog else []
    states = {query.id: _states(home.connect, query.id) for query in lasting}
    listened = sorted(home.running.items())
    rows = [
        [q.id, "PERSISTENT", _words(states[q.id]), q.sink.name, q.sink.topic, q.statement]
        for q in lasting
    ]
    rows += [[id_, "PUSH", "RUNNING:1", "", "", statement] for id_, statement in listened]
    told = [_lasting(query, states[query.id]) for query in lasting]
    told += [_entity(id_, text, "PUSH", {"RUNNING": 1}) for id_, text in listened]
    parts: tuple[Part, ...] = (Grid(HEADINGS, rows), Lines(FOOTER))
    return Result({"@type": "queries", "queries": told}, parts if rows else parts[:1])


FOOTER = "For detailed information on a Query run: EXPLAIN <Query ID>;"


def _states(connect: Connect, id_: str) -> dict[str, int]:
    """How many tasks are in which state; the connector's own, where it is not running."""
    try:
        status = connect.status(id_)
    except PenstockError as error:
        if status_of(error) != NOT_FOUND:
            raise
        return {"ERROR": 1}  # its connector was deleted
    own = str(status["connector"]["state"])
    found = [str(task["state"]) for task in status["tasks"]] if own == "RUNNING" else []
    return dict(Counter(STATES.get(each, each) for each in found or [own]))


def _words(states: dict[str, int]) -> str:
    return ",".join(f"{state}:{count}" for state, count in states.items())


def _lasting(query: PersistentQuery, states: dict[str, int]) -> Json:
    found = _entity(query.id, query.statement, "PERSISTENT", states)
    return {**found, "sinks": [query.sink.name], "sinkKafkaTopics": [query.sink.topic]}


def _entity(id_: str, statement: str, kind: str, states: dict[str, int]) -> Json:
    worst = next((each for each in ("ERROR", "PAUSED") if each in states), next(iter(states)))
    return {
        "queryString": statement,
        "sinks": [],
        "sinkKafkaTopics": [],
        "id": id_,
        "statusCount": states,
        "queryType": kind,
        "state": worst,
    }


def facts(home: Home, query: PersistentQuery, plan: str) -> Result:
    """``EXPLAIN`` of a query that runs: what it is, how it is, and Spark's plan."""
    states = _states(home.connect, query.id)
    lines = {
        "ID": query.id,
        "Query Type": "PERSISTENT",
        "SQL": query.statement,
        "Sources": ", ".join(query.reads),
        "Sink": f"{query.sink.name} (topic {query.sink.topic})",
        "Status": _words(states),
        "Lag": _record_words(lag := _lag(home, query)),
        "Skipped": _record_words(skipped := _skipped(home.connect, query.id)),
    }
    if note := _outdated(home, query):
        lines["Note"] = note
    text = "\n".join(f"{key:<21}: {value}" for key, value in lines.items())
    trace = _trace(home.connect, query.id)
    told = {**_lasting(query, states), "sources": list(query.reads), "executionPlan": plan}
    told |= {"lag": lag, "skipped": skipped}
    shown = "\n\n".join(filter(None, (text, trace, plan)))
    return Result({"@type": "queryDescription", "queryDescription": told}, (Lines(shown),))


def _lag(home: Home, query: PersistentQuery) -> int | None:
    """How many records it has still to read; None if it cannot be found out."""
    try:
        found = [each for each in home.connect.offsets(query.id) if each["offset"] is not None]
        return sum(_lag_of(home, topic, found) for topic in query.topics)
    except PenstockError:
        return None


def _lag_of(home: Home, topic: str, offsets: Sequence[Json]) -> int:
    ends = reading.ends(home.catalog.admin, topic)
    done: reading.Offsets = {
        each["partition"]["kafka_partition"]: each["offset"]["kafka_offset"]
        for each in offsets
        if each["partition"]["kafka_topic"] == topic
    }
    begin = {} if ends.keys() <= done.keys() else reading.beginnings(home.catalog.admin, topic)
    return sum(end - done.get(p, begin.get(p, 0)) for p, end in ends.items())


def _skipped(connect: Connect, id_: str) -> int | None:
    """How many records it has skipped since its worker began; None if that is not known."""
    try:
        tasks = connect.metrics(id_)["tasks"]
    except PenstockError:
        return None
    return sum(int(task["errors"]["skipped"]) for task in tasks)


def _record_words(count: int | None) -> str:
    if count is None:
        return "unknown"
    return f"{count} record{'' if count == 1 else 's'}"


def _outdated(home: Home, query: PersistentQuery) -> str:
    """What was declared again since the query was created: the query keeps the older columns."""
    now = home.catalog.sources()
    other = [s for s in query.sources if s.name in now and now[s.name].columns != s.columns]
    if not other:
        return ""
    was = "; ".join(f"{source.name} ({column_list(source.columns)})" for source in other)
    return (
        f"goes on with the columns of its creation, {was}, which were declared again since. "
        "Terminate it and create it again to change that."
    )


def still_reading(home: Home, name: str, but: str = "") -> tuple[str, ...]:
    """A warning if there are queries over a stream or table whose declaration has changed.

    ``but`` is one that knows.
    """
    known = [query for query in home.catalog.queries().values() if query.id != but]
    using = [query.id for query in known if name in (*query.reads, query.sink.name)]
    if not using:
        return ()
    return (
        f"{', '.join(using)}: goes on with the columns that {name} had when the query was created. "
        "Terminate it and create it again to change that.",
    )


def _trace(connect: Connect, id_: str) -> str:
    try:
        status = connect.status(id_)
    except PenstockError:
        return ""
    found = [status["connector"], *status["tasks"]]
    return next((str(each["trace"]) for each in found if each.get("trace")), "")
