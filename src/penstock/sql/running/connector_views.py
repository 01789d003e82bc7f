"""Statements that show connectors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from penstock.sdk.errors import PenstockError
from penstock.sql.catalog.query import CONNECTOR_CLASS
from penstock.sql.connecting.connect_api import Connect, Json, status_of
from penstock.sql.connecting.names import connector_named
from penstock.sql.connecting.topic_prefix import short_name, topic_prefix
from penstock.sql.running.results import Grid, Lines, Part, Result
from penstock.sql.statements import connectors as co

SchemaOf = Callable[[str], str]
"""The columns of a topic in SQL's words; empty if they are not known."""
SourcesOf = Callable[[Iterable[str]], list[tuple[str, str, str]]]
"""Streams and tables over topics: name, topic, STREAM or TABLE."""


def show(connect: Connect, statement: co.ShowConnectors) -> Result:
    """All connectors, or those of a kind."""
    found = connect.expanded("info", "status")
    chosen = {
        name: each
        for name, each in sorted(found.items())
        if (not statement.kind or _kind(each) == statement.kind) and not _is_query(each)
    }
    entity = {
        "@type": "connector_list",
        "connectors": [_listed(name, each) for name, each in chosen.items()],
    }
    return Result(entity, (_external(chosen) if statement.external else _shipped(chosen),))


def _external(found: dict[str, Json]) -> Grid:
    rows = [[name, _class(each), topic_prefix(_config(each))] for name, each in found.items()]
    return Grid(("name", "connector", "topic prefix"), rows, titled=True)


def _shipped(found: dict[str, Json]) -> Grid:
    rows = [
        [name, _kind(each).upper(), _class(each), state_words(each["status"])]
        for name, each in found.items()
    ]
    return Grid(("Connector Name", "Type", "Class", "Status"), rows)


def _listed(name: str, each: Json) -> Json:
    return {
        "name": name,
        "type": _kind(each),
        "className": _class(each),
        "state": state_words(each["status"]),
        "topicPrefix": topic_prefix(_config(each)),
    }


def _kind(each: Json) -> str:
    return str(each.get("info", {}).get("type") or "unknown")


def _is_query(each: Json) -> bool:
    """Whether it runs a persistent query: those are listed by SHOW QUERIES."""
    return _class(each) == CONNECTOR_CLASS


def _config(each: Json) -> dict[str, str]:
    return dict(each.get("info", {}).get("config") or {})


def _class(each: Json) -> str:
    return _config(each).get("connector.class", "")


def state_words(status: Json) -> str:
    """The state, and of one that runs how many of its tasks do."""
    state, tasks = status["connector"]["state"], status["tasks"]
    if state != "RUNNING":
        return str(state)
    running = sum(task["state"] == "RUNNING" for task in tasks)
    word = "WARNING" if tasks and not running else "RUNNING"
    return f"{word} ({running}/{len(tasks)} tasks RUNNING)"


def describe(connect: Connect, given: str, sources_of: SourcesOf) -> Result:
    """``DESCRIBE CONNECTOR``: states, traces, topics and what is declared over them."""
    name = connector_named(connect, given)
    info, status, topics = connect.info(name), connect.status(name), used_topics(connect, name)
    sources = sources_of(topics)
    entity = {
        "@type": "connector_description",
        "connectorClass": info["config"].get("connector.class", ""),
        "status": status,
        "sources": [{"name": n, "topic": t, "type": k} for n, t, k in sources],
        "topics": topics,
    }
    return Result(entity, tuple(_described(info, status, topics, sources)))


def _described(
    info: Json, status: Json, topics: list[str], sources: list[tuple[str, str, str]]
) -> Iterable[Part]:
    connector = status["connector"]
    fields = {
        "Name": info["name"],
        "Class": info["config"].get("connector.class", ""),
        "Type": info.get("type") or "unknown",
        "State": connector["state"],
        "WorkerId": connector["worker_id"],
        "Trace": connector.get("trace", ""),
    }
    yield Lines("\n".join(f"{key:<21}: {value}" for key, value in fields.items() if value))
    tasks = [[str(t["id"]), t["state"], t.get("trace", "")] for t in status["tasks"]]
    yield Grid(("Task ID", "State", "Error Trace"), tasks)
    yield Grid(("KSQL Source Name", "Kafka Topic", "Type"), sources)
    yield Grid(("Related Topics",), [[topic] for topic in topics])


def describe_external(connect: Connect, name: str, schema_of: SchemaOf) -> Result:
    """``DESCRIBE n`` of a connector, as KLIP-7 prints it."""
    info, status, topics = connect.info(name), connect.status(name), used_topics(connect, name)
    prefix = topic_prefix(info["config"])
    class_name = info["config"].get("connector.class", "")
    head = f"name: {name}\nconnector: {class_name}\ntopic-prefix: {prefix}"
    tasks = [[t["worker_id"], str(t["id"]), t["state"]] for t in status["tasks"]]
    parts: list[Part] = [
        Lines(head),
        Grid(("worker id", "task", "status"), tasks, titled=True),
        _topics(info.get("type") == "source", topics, prefix, schema_of),
        *_traces(status),
    ]
    entity = {"@type": "connector_description", "connectorClass": class_name}
    return Result({**entity, "status": status, "topics": topics}, tuple(parts))


def _topics(source: bool, topics: list[str], prefix: str, schema_of: SchemaOf) -> Grid:
    if not source:
        rows = [[short_name(topic, prefix), topic] for topic in topics]
        return Grid(("name", "topic"), rows, titled=True)
    rows = [[short_name(topic, prefix), topic, schema_of(topic)] for topic in topics]
    return Grid(("name", "topic", "schema"), rows, titled=True)


def _traces(status: Json) -> list[Part]:
    parts = [("connector", status["connector"])]
    parts += [(f"task {task['id']}", task) for task in status["tasks"]]
    return [Lines(f"{name}: {part['trace']}") for name, part in parts if part.get("trace")]


def used_topics(connect: Connect, name: str) -> list[str]:
    """Its topics; none where Kafka Connect does not track them."""
    try:
        return sorted(connect.topics(name))
    except PenstockError as error:
        if not status_of(error):
            raise
        return []


def plugins(connect: Connect) -> Result:
    """``SHOW CONNECTOR PLUGINS``."""
    found = connect.plugins()
    rows = [[p["class"], str(p["type"]).upper(), str(p.get("version") or "")] for p in found]
    entity = {
        "@type": "connector_plugins_list",
        "connectorsPlugins": [
            dict(zip(("className", "type", "version"), r, strict=True)) for r in rows
        ],
    }
    return Result(entity, (Grid(("Class", "Type", "Version"), rows),))


def offsets(connect: Connect, statement: co.ShowOffsets) -> Result:
    """``SHOW CONNECTOR OFFSETS``: in the form in which ALTER CONNECTOR takes them."""
    name = connector_named(connect, statement.name)
    found = connect.offsets(name)
    rows = [[_compact(each["partition"]), _compact(each["offset"])] for each in found]
    entity = {"@type": "connector_offsets", "connectorName": name, "offsets": found}
    return Result(entity, (Grid(("Partition", "Offset"), rows),))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
