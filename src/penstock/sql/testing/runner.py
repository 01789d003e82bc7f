"""Tests run one after the other, each with a catalog of its own and without others' topics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection
from penstock.sdk.errors import PenstockError
from penstock.sql.avro.registry import NO_REGISTRY, SqlRegistry
from penstock.sql.errors import StatementError
from penstock.sql.grammar.parser import Parsed
from penstock.sql.grammar.splitting import pieces
from penstock.sql.running.home import Home
from penstock.sql.running.results import Printed, Rows
from penstock.sql.running.session import SqlSession
from penstock.sql.statements.queries import PrintTopic, Select
from penstock.sql.testing.cases import Case
from penstock.sql.testing.local_queries import LocalQueries

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.sql.connecting.connect_api import Connect

_numbers = itertools.count()


@dataclass(frozen=True)
class Outcome:
    """How a test has ended; ``problem`` is empty if it passed."""

    case: Case
    line: int = 0
    problem: str = ""


def run_cases(
    cases: Iterable[Case],
    connection: Connection,
    spark: Callable[[], SparkSession],
    registry: SqlRegistry = NO_REGISTRY,
) -> Iterator[Outcome]:
    """Run tests; the topics that a test has made are deleted after it."""
    admin = clients.admin(connection)
    for case in cases:
        before = set(topics.all_topics(admin))
        outcome = _run_case(case, connection, spark, registry)
        _delete(admin, set(topics.all_topics(admin)) - before)
        yield outcome


def _run_case(
    case: Case,
    connection: Connection,
    spark: Callable[[], SparkSession],
    registry: SqlRegistry,
) -> Outcome:
    catalog = f"penstock-sql-test-{next(_numbers)}"
    with TemporaryDirectory(prefix="penstock-sql-test-") as folder:
        queries = LocalQueries(connection, spark, folder, registry)
        connect = cast("Connect", queries)
        home = Home(lambda: connect, lambda: connection, spark, catalog, registry=registry)
        with closing(home):
            return _outcome(SqlSession(home, scripts=False), case, queries)


def _outcome(session: SqlSession, case: Case, queries: LocalQueries) -> Outcome:
    for piece in pieces(case.script):
        try:
            _run(session, session.parsed(piece))
            # So that every record is a change of its own, as it comes.
            queries.catch_up()
        except (PenstockError, ModuleNotFoundError) as error:
            return _failed(Outcome(case, piece.line), str(error))
    if case.expected is not None:
        return Outcome(case, problem=f"expected an error{_quoted(case)}, but there was none.")
    return Outcome(case)


def _failed(outcome: Outcome, problem: str) -> Outcome:
    expected = outcome.case.expected
    if expected is None:
        return replace(outcome, problem=problem)
    if expected in problem:
        return Outcome(outcome.case)
    told = f"expected an error{_quoted(outcome.case)}, but it says: {problem}"
    return replace(outcome, problem=told)


def _quoted(case: Case) -> str:
    return f' that says "{case.expected}"' if case.expected else ""


def _run(session: SqlSession, parsed: Parsed) -> None:
    """What a query gives is read to its end, so that what is wrong with it shows."""
    statement = parsed.statement
    query = statement.query if isinstance(statement, Select) else None
    endless = query is not None and query.emit and query.limit is None
    if endless or (isinstance(statement, PrintTopic) and statement.limit is None):
        raise StatementError("In a test, a query needs an end: add a LIMIT.")
    for ran in session.answers(parsed):
        answer = ran.answer
        found = answer.rows if isinstance(answer, Rows) else ()
        for _ in answer.lines if isinstance(answer, Printed) else found:
            pass


def _delete(admin: AdminClient, names: set[str]) -> None:
    for deleted in admin.delete_topics(sorted(names)).values() if names else ():
        with suppress(KafkaException):  # it is gone already
            deleted.result(topics.ADMIN_TIMEOUT)
