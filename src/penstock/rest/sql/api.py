"""Statements over HTTP: who may run them, where, and what is answered.

A statement that only the leader can carry out is passed on to it, that one alone: what came before
it is done, and what comes after is run here again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from penstock.kafka.clients import Connection
from penstock.rest.access.audit import audit, telling
from penstock.rest.access.caller import Role, current
from penstock.rest.access.peers import signed_for
from penstock.rest.herder_api import HerderApi
from penstock.rest.sql.failures import (
    BAD_REQUEST,
    BAD_STATEMENT,
    BEHIND,
    FORBIDDEN,
    WRONG_ENDPOINT,
    Failure,
    failure_of,
)
from penstock.rest.sql.requests import SqlRequest, parsed_object
from penstock.runtime.cluster.peers import CONFLICTING, NotLeading
from penstock.runtime.errors import Conflict
from penstock.sdk.errors import PenstockError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.rest.sql.running import Listened, Listeners
    from penstock.rest.sql.shapes import Form
    from penstock.sql.grammar.parser import Parsed
    from penstock.sql.grammar.splitting import Piece
    from penstock.sql.running.home import Home
    from penstock.sql.running.session import Ran, SqlSession

Json = dict[str, Any]
ONLY_QUERIES = (
    "The following statement types should be issued to the endpoint '/query-stream':"
    "\n\t* PRINT\n\t* SELECT"
)


class SqlApi:
    """What the routes call. Methods block; each may raise Failure.

    ``herder`` is masked and audited. SQL needs further packages: without them everything is
    answered with a Failure that says so.
    """

    def __init__(
        self,
        herder: HerderApi,
        connection: Callable[[], Connection],
        spark: Callable[[], SparkSession],
        own_topics: Callable[[], Collection[str]],
        catalog_topic: str | None = None,
        *,
        properties: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._herder = herder
        self._connection = connection
        self._spark = spark
        self._own_topics = own_topics
        self._catalog_topic = catalog_topic
        self._properties = properties

    @cached_property
    def home(self) -> Home:
        """What statements run on."""
        from penstock.sql.avro.registry import SqlRegistry
        from penstock.sql.connecting.herder_connect import HerderConnect
        from penstock.sql.running.home import CATALOG_TOPIC, Home

        return Home(
            lambda: HerderConnect(self._herder),
            self._connection,
            self._spark,
            self._catalog_topic or CATALOG_TOPIC,
            self._own_topics,
            registry=SqlRegistry.of(self._properties),
        )

    @cached_property
    def listeners(self) -> Listeners:
        """The queries that clients listen to."""
        from penstock.rest.sql.running import Listeners

        return Listeners(self.home.running)

    def close(self) -> None:
        """End every query, and what statements have started."""
        if "listeners" in vars(self):
            self.listeners.end_all()
        if "home" in vars(self):
            self.home.close()

    def info(self) -> Json:
        """``GET /info``."""
        root = self._herder.root()
        return {
            "KsqlServerInfo": {
                "version": root.get("penstock_version", ""),
                "kafkaClusterId": root.get("kafka_cluster_id", ""),
                "ksqlServiceId": "penstock",
                "serverStatus": "RUNNING",
            }
        }

    # Statements.

    def statements(self, body: bytes) -> list[Json]:
        """``POST /ksql``: run them in order; the entities that they answer."""
        request = SqlRequest.of(body)
        session, todo = self._begun(request)
        done: list[Json] = []
        for piece, shown in todo:
            try:
                done += self._entities(session, piece)
            except (PenstockError, ModuleNotFoundError) as error:
                raise failure_of(error, shown, done) from error
        return done

    def _begun(self, request: SqlRequest) -> tuple[SqlSession, list[tuple[Piece, str]]]:
        """The statements, of which each is one: before any is run."""
        try:
            from penstock.sql.grammar.splitting import pieces
            from penstock.sql.running.session import SqlSession
        except ModuleNotFoundError as error:
            raise failure_of(error) from error
        todo = [(piece, self._shown(piece)) for piece in pieces(request.sql)]
        self._refuse_if_behind(request.sequence)
        return SqlSession(self.home, request.variables, request.properties, scripts=False), todo

    def _shown(self, piece: Piece) -> str:
        from penstock.sql.errors import SqlError
        from penstock.sql.grammar.masking import blotted
        from penstock.sql.grammar.parser import masked_text

        try:
            return masked_text(piece.text) + ";"
        except SqlError as error:
            raise failure_of(error, blotted(piece.text)) from error

    def _refuse_if_behind(self, sequence: int) -> None:
        """The catalog is read to its end by every statement, so only the future is missing."""
        if sequence >= 0 and sequence >= self.home.catalog.changes():
            raise Failure(
                BEHIND, f"There is no change {sequence} of the streams and tables here yet."
            )

    def _entities(self, session: SqlSession, piece: Piece) -> list[Json]:
        from penstock.sql.statements.effects import SILENT, only_looks
        from penstock.sql.statements.queries import PrintTopic, Select

        parsed = session.parsed(piece)
        if isinstance(parsed.statement, Select | PrintTopic):
            raise Failure(WRONG_ENDPOINT, ONLY_QUERIES)
        looks = only_looks(parsed.statement)
        self._refuse_beyond_role(parsed, looks=looks)
        try:
            answers = self._run(session, parsed, looks=looks)
        except NotLeading:
            return self._forwarded(session, piece)
        return [] if isinstance(parsed.statement, SILENT) else [_entity(each) for each in answers]

    def _run(self, session: SqlSession, parsed: Parsed, *, looks: bool) -> Sequence[Ran]:
        from penstock.sql.statements.connectors import ConnectorStatement

        if looks or isinstance(parsed.statement, ConnectorStatement):
            return list(session.answers(parsed))  # changes of connectors are in the audit anyway
        with telling("sql", None, statement=parsed.masked):
            return list(session.answers(parsed))

    def _refuse_beyond_role(self, parsed: Parsed, *, looks: bool) -> None:
        caller = current()
        if not looks and caller.role < Role.OPERATE:
            audit("sql", None, "refused: 403", statement=parsed.masked)
            raise Failure(
                FORBIDDEN,
                f"This statement needs the role operate, and {caller.name} has the role "
                f"{caller.role.word}.",
            )

    def _forwarded(self, session: SqlSession, piece: Piece) -> list[Json]:
        caller = current()
        if caller.peer:
            raise Conflict(CONFLICTING)  # not in circles
        asked = {
            "ksql": f"{piece.text};",
            "streamsProperties": session.properties,
            "sessionVariables": session.variables,
        }
        body = json.dumps(asked).encode()
        answer = self._herder.forward("POST", "/ksql", body, signed_for(caller))
        found = json.loads(answer.body)
        if isinstance(found, list):
            return found
        raise Failure(found.get("error_code", answer.status * 100), found.get("message", ""))

    # Queries.

    def query(self, body: bytes, form: Form) -> Listened:
        """Begin a SELECT or PRINT; give it to ``listeners.end`` when the client has gone."""
        request = SqlRequest.of(body)
        session, todo = self._begun(request)
        if len(todo) != 1:
            raise Failure(BAD_STATEMENT, f"One SELECT or PRINT is needed, not {len(todo)}.")
        (piece, shown), *_ = todo
        try:
            return self._listened(session, piece, form)
        except (PenstockError, ModuleNotFoundError) as error:
            raise failure_of(error, shown) from error

    def _listened(self, session: SqlSession, piece: Piece, form: Form) -> Listened:
        from penstock.rest.sql.running import Listened
        from penstock.sql.running.results import Result

        parsed = session.parsed(piece)
        self._refuse_other(parsed)
        (ran,) = session.answers(parsed)
        assert not isinstance(ran.answer, Result)  # noqa: S101 (only queries come here)
        query = Listened(ran.answer, form, current())
        self.listeners.add(query, parsed.masked)
        return query

    def _refuse_other(self, parsed: Parsed) -> None:
        from penstock.sql.statements.queries import PrintTopic, Select

        if not isinstance(parsed.statement, Select | PrintTopic):
            raise Failure(BAD_STATEMENT, "This is not a query: send it to the endpoint '/ksql'.")

    def close_query(self, body: bytes) -> None:
        """``POST /close-query``."""
        query_id = parsed_object(body).get("queryId")
        if not isinstance(query_id, str):
            raise Failure(BAD_REQUEST, 'The body needs the query, in "queryId".')
        self.listeners.close(query_id, current())


def _entity(ran: Ran) -> Json:
    from penstock.sql.running.results import Result

    result = ran.answer
    assert isinstance(result, Result)  # noqa: S101 (queries are refused before)
    warnings = [{"message": text} for text in result.warnings]
    kind = result.entity["@type"]
    return {
        "@type": kind,
        "statementText": f"{ran.statement};",
        **result.entity,
        "warnings": warnings,
    }
