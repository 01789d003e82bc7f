"""SHOW and DESCRIBE of streams, tables, topics, and of the session itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.kafka import topics
from penstock.sdk.errors import PenstockError
from penstock.sql.catalog.inference import value_columns
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.catalog.sampling import sample_of
from penstock.sql.catalog.source import Source, column_list
from penstock.sql.planning.folds import FOLDS
from penstock.sql.planning.function_list import AGGREGATES, MOVING, SCALAR
from penstock.sql.running.home import Home
from penstock.sql.running.registered import value_columns_of
from penstock.sql.running.results import Grid, Lines, Part, Result
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import ColumnDef, SqlType

HIDDEN = ("_", "connect-", "penstock-")
Json = dict[str, Any]


def sources(home: Home, kind: SourceKind) -> Result:
    """``SHOW STREAMS`` or ``SHOW TABLES``."""
    found = home.catalog.sources(kind).values()
    word = kind.capitalize()
    headings = (f"{word} Name", "Kafka Topic", "Key Format", "Value Format", "Windowed")
    rows = [
        [s.name, s.topic, s.key_format, s.value_format, str(bool(s.window)).lower()] for s in found
    ]
    entity = {"@type": f"{kind.lower()}s", f"{kind.lower()}s": [_listed(s) for s in found]}
    return Result(entity, (Grid(headings, rows),))


def _listed(source: Source) -> Json:
    return {
        "type": source.kind,
        "name": source.name,
        "topic": source.topic,
        "keyFormat": source.key_format,
        "valueFormat": source.value_format,
        "isWindowed": bool(source.window),
    }


def shown_topics(home: Home, *, every: bool) -> Result:
    """``SHOW [ALL] TOPICS``."""
    known = home.catalog.admin.list_topics(timeout=topics.ADMIN_TIMEOUT).topics
    rows = [
        [name, str(len(meta.partitions)), _replicas(meta)]
        for name, meta in sorted(known.items())
        if every or not name.startswith(HIDDEN)
    ]
    entity = {
        "@type": "kafka_topics",
        "topics": [{"name": r[0], "replicaInfo": [int(r[2])] * int(r[1])} for r in rows],
    }
    headings = ("Kafka Topic", "Partitions", "Partition Replicas")
    return Result(entity, (Grid(headings, rows),))


def _replicas(meta: Any) -> str:
    return str(max((len(part.replicas) for part in meta.partitions.values()), default=0))


def described(source: Source, queries: Iterable[PersistentQuery], *, extended: bool) -> Result:
    """``DESCRIBE`` of a stream or table; those of ``queries`` that use it are told."""
    reading = [query for query in queries if source.name in query.reads]
    writing = [query for query in queries if query.sink.name == source.name]
    rows = [[column.name, type_words(column)] for column in source.columns]
    grid = Grid(("Field", "Type"), rows)
    head = Lines(f"Name                 : {source.name}")
    more = Lines("\n".join((_extended(source), _using("read", reading), _using("write", writing))))
    parts: tuple[Part, ...] = (more, grid) if extended else (head, grid)
    used = {"readQueries": _told(reading), "writeQueries": _told(writing)}
    facts = {**_facts(source), **used}
    return Result({"@type": "sourceDescription", "sourceDescription": facts}, parts)


def _using(verb: str, queries: Sequence[PersistentQuery]) -> str:
    ids = ", ".join(query.id for query in queries)
    return f"{f'Queries that {verb} it':<21}: {ids or 'none'}"


def _told(queries: Sequence[PersistentQuery]) -> list[Json]:
    return [
        {
            "queryString": query.statement,
            "sinks": [query.sink.name],
            "sinkKafkaTopics": [query.sink.topic],
            "id": query.id,
            "queryType": "PERSISTENT",
        }
        for query in queries
    ]


def _facts(source: Source) -> Json:
    return {
        **_listed(source),
        "windowType": source.window or None,
        "fields": [_field(column) for column in source.columns],
        "timestamp": source.timestamp,
        "statement": source.statement,
    }


def _field(column: ColumnDef) -> Json:
    kind = {"HEADERS": "HEADER", "": None}.get(column.role, "KEY")
    told = {"name": column.name, "schema": type_schema(column.type)}
    return {**told, "type": kind} if kind else told


def type_schema(kind: SqlType) -> Json:
    """A type as ksqlDB's API has it."""
    fields = [{"name": name, "schema": type_schema(each)} for name, each in kind.fields]
    return {
        "type": "STRING" if kind.name == "VARCHAR" else kind.name,
        "fields": fields if kind.name == "STRUCT" else None,
        "memberSchema": type_schema(kind.arguments[-1]) if kind.arguments else None,
    }


def _extended(source: Source) -> str:
    fields = {
        "Name": source.name,
        "Type": source.kind,
        "Timestamp field": source.timestamp or "Not set - using <ROWTIME>",
        "Key format": source.key_format,
        "Value format": source.value_format,
        "Kafka topic": source.topic,
        "Statement": source.statement,
    }
    return "\n".join(f"{key:<21}: {value}" for key, value in fields.items())


def type_words(column: ColumnDef) -> str:
    """A type and what the column is: ``VARCHAR(STRING) (primary key)``."""
    role = f" (header('{column.header}'))" if column.header else f" ({column.role.lower()})"
    return f"{column.type}{role if column.role else ''}"


def pairs(kind: str, headings: tuple[str, str], found: Mapping[str, str]) -> Result:
    """A list of names with what each stands for."""
    rows = [[name, value] for name, value in sorted(found.items())]
    listed = [{"name": name, "value": value} for name, value in rows]
    return Result({"@type": kind, kind: listed}, (Grid(headings, rows),))


def types(found: Mapping[str, SqlType]) -> Result:
    """``SHOW TYPES``."""
    rows = [[name, str(kind)] for name, kind in sorted(found.items())]
    told = {name: type_schema(kind) for name, kind in found.items()}
    return Result({"@type": "type_list", "types": told}, (Grid(("Type Name", "Schema"), rows),))


def functions() -> Result:
    """``SHOW FUNCTIONS``."""
    kinds = dict.fromkeys([*SCALAR, *MOVING], "SCALAR")
    kinds |= dict.fromkeys([*AGGREGATES, *FOLDS], "AGGREGATE")
    rows = [[name, kind] for name, kind in sorted(kinds.items())]
    entity = {"@type": "function_names", "functions": [{"name": n, "type": k} for n, k in rows]}
    return Result(entity, (Grid(("Function Name", "Type"), rows),))


def schema_words(home: Home, topic: str) -> str:
    """The columns of a topic in SQL's words; empty where its records do not tell."""
    try:
        known = value_columns_of(home, topic) if home.registry.is_there else ()
        return column_list(known or value_columns(sample_of(home.connection(), topic)))
    except PenstockError:
        return ""


def sources_over(home: Home, wanted: Iterable[str]) -> list[tuple[str, str, str]]:
    """The streams and tables over some topics; none where no brokers are known."""
    names, catalog = set(wanted), home.known_catalog()
    found = catalog.sources().values() if catalog else ()
    return [(s.name, s.topic, s.kind) for s in found if s.topic in names]
