"""``CREATE STREAM|TABLE … FROM SOURCE CONNECTOR n``: with a config, the connector is made as well.

Connector and declaration stay apart: dropping one leaves the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from penstock.kafka import clients, topics
from penstock.sdk.errors import PenstockError
from penstock.sql.catalog.sampling import sample_of
from penstock.sql.connecting.connect_api import Connect
from penstock.sql.connecting.names import connector_named
from penstock.sql.errors import StatementError
from penstock.sql.running import connector_changes, sources
from penstock.sql.running.connector_views import used_topics
from penstock.sql.running.home import Home
from penstock.sql.running.results import Lines, Result
from penstock.sql.statements.connectors import CreateConnector, Properties
from penstock.sql.statements.sources import CreateSource

PATIENCE_SECONDS = 30.0
"""How long a new connector may take to its first record."""
LOOK_SECONDS = 0.5
OWN = frozenset(sources.KNOWN) - {"TOPIC"}
"""Keys of WITH that are about the stream or table; all others are the connector's."""


def create(home: Home, statement: CreateSource) -> Result:
    """Make the connector, if WITH has its config, and declare a source over its topic."""
    if (taken := sources.already(home, statement)) is not None:
        return taken
    own = tuple(each for each in statement.properties if each[0].upper() in OWN)
    config = tuple(each for each in statement.properties if each not in own)
    if not config:
        name = connector_named(home.connect, statement.connector or "")
        return _declared(home, replace(statement, connector=name), own)
    made = _made(home, statement.connector or "", config)
    try:
        _wait(home, statement, own)
        done = _declared(home, statement, own)
    except PenstockError as error:
        raise StatementError(
            f"Connector {statement.connector} was created, but not the {statement.kind.lower()}: "
            f"{error} Once it has written records: CREATE {statement.kind} {statement.name} FROM "
            f"SOURCE CONNECTOR {statement.connector};"
        ) from None
    told = Lines(f"Created connector {statement.connector}")
    return Result(done.entity, (told, *done.parts), (*made.warnings, *done.warnings))


def _made(home: Home, name: str, config: Properties) -> Result:
    return connector_changes.create(home.connect, CreateConnector("source", name, config), _no_sink)


def _no_sink(_: str) -> NoReturn:
    raise AssertionError("a source reads no stream")


def _declared(home: Home, statement: CreateSource, own: Properties) -> Result:
    """Of the connector's config, nothing comes into the catalog."""
    topic = _given(own) or only_topic(home.connect, statement.connector or "")
    rest = tuple(each for each in own if each[0].upper() != "KAFKA_TOPIC")
    shown = f"CREATE {statement.kind} {statement.name} FROM SOURCE CONNECTOR {statement.connector}"
    plain = replace(statement, properties=(("KAFKA_TOPIC", topic), *rest), connector=None)
    return sources.create(home, plain, shown)


def _given(own: Properties) -> str:
    return next((value or "" for key, value in own if key.upper() == "KAFKA_TOPIC"), "")


def only_topic(connect: Connect, name: str) -> str:
    """The topic of a connector; StatementError unless it has just one."""
    found = used_topics(connect, name)
    if len(found) != 1:
        told = f"has {len(found)} topics ({', '.join(found)})" if found else "has no topic yet"
        raise StatementError(f"Connector {name} {told}: say which with WITH (KAFKA_TOPIC='…').")
    return found[0]


def _wait(home: Home, statement: CreateSource, own: Properties) -> None:
    """Until there is what the declaration needs; what is missing then, it says itself."""
    ready: Callable[[str], object] = (
        (lambda topic: _exists(home, topic))
        if statement.columns
        else (lambda topic: _exists(home, topic) and sample_of(home.connection(), topic))
    )
    name, until = statement.connector or "", time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        known = [_given(own)] if _given(own) else used_topics(home.connect, name)
        if known and all(map(ready, known)):
            return
        time.sleep(LOOK_SECONDS)


def _exists(home: Home, topic: str) -> bool:
    return bool(topics.partitions_of(clients.admin(home.connection()), [topic])[topic])
