"""SHOW and DESCRIBE of streams, tables, topics, and of the session itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.kafka import topics
from penstock.sdk.errors import PenstockError
from penstock.sql.catalog.inference import value_columns
from penstock.sql.catalog.sampling import sample_of
from penstock.sql.catalog.source import Source, column_list
from penstock.sql.planning.functions import AGGREGATES, SCALAR
from penstock.sql.running.home import Home
from penstock.sql.running.results import Grid, Lines, Part, Result
from penstock.sql.statements.types import ColumnDef

HIDDEN = ("_", "connect-", "penstock-")
Json = dict[str, Any]


def sources(home: Home, kind: str) -> Result:
    """``SHOW STREAMS`` or ``SHOW TABLES``."""
    found = home.catalog.sources(kind).values()
    word = kind.capitalize()
    headings = (f"{word} Name", "Kafka Topic", "Key Format", "Value Format", "Windowed")
    rows = [[s.name, s.topic, s.key_format, s.value_format, "false"] for s in found]
    entity = {"@type": f"{kind.lower()}s", f"{kind.lower()}s": [_listed(s) for s in found]}
    return Result(entity, (Grid(headings, rows),))


def _listed(source: Source) -> Json:
    return {
        "type": source.kind,
        "name": source.name,
        "topic": source.topic,
        "keyFormat": source.key_format,
        "valueFormat": source.value_format,
        "isWindowed": False,
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
        "topics": [{"name": r[0], "partitions": int(r[1]), "replicas": r[2]} for r in rows],
    }
    headings = ("Kafka Topic", "Partitions", "Partition Replicas")
    return Result(entity, (Grid(headings, rows),))


def _replicas(meta: Any) -> str:
    return str(max((len(part.replicas) for part in meta.partitions.values()), default=0))


def described(source: Source, *, extended: bool) -> Result:
    """``DESCRIBE`` of a stream or table."""
    rows = [[column.name, type_words(column)] for column in source.columns]
    grid = Grid(("Field", "Type"), rows)
    head = Lines(f"Name                 : {source.name}")
    parts: tuple[Part, ...] = (Lines(_extended(source)), grid) if extended else (head, grid)
    fields = [{"name": c.name, "schema": {"type": str(c.type)}} for c in source.columns]
    entity = {
        "@type": "sourceDescription",
        "sourceDescription": {**_listed(source), "fields": fields},
    }
    return Result(entity, parts)


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
    entity = {"@type": kind, kind: dict(found)}
    return Result(entity, (Grid(headings, rows),))


def functions() -> Result:
    """``SHOW FUNCTIONS``."""
    kinds = {**dict.fromkeys(SCALAR, "SCALAR"), **dict.fromkeys(AGGREGATES, "AGGREGATE")}
    return pairs("function_names", ("Function Name", "Type"), kinds)


def queries() -> Result:
    """``SHOW QUERIES``: there are no persistent queries yet."""
    headings = ("Query ID", "Query Type", "Status", "Sink Name", "Sink Kafka Topic", "Query String")
    return Result({"@type": "queries", "queries": []}, (Grid(headings, []),))


def schema_words(home: Home, topic: str) -> str:
    """The columns of a topic in SQL's words; empty where its records do not tell."""
    try:
        return column_list(value_columns(sample_of(home.connection(), topic)))
    except PenstockError:
        return ""


def sources_over(home: Home, wanted: Iterable[str]) -> list[tuple[str, str, str]]:
    """The streams and tables over some topics; none where no brokers are known."""
    names, catalog = set(wanted), home.known_catalog()
    found = catalog.sources().values() if catalog else ()
    return [(s.name, s.topic, s.kind) for s in found if s.topic in names]
