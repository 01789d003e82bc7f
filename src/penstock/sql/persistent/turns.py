"""The turns of a persistent query: frames of records into frames of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable
from penstock.sdk.frames import FrameTurn
from penstock.sql.avro.registry import NO_REGISTRY, SqlRegistry
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.catalog.source import Source
from penstock.sql.errors import StatementError
from penstock.sql.grammar.parser import parse
from penstock.sql.persistent.aggregating import aggregated, asked
from penstock.sql.persistent.avro_stages import in_avro, with_json, with_texts
from penstock.sql.persistent.pairing import pair_access, paired
from penstock.sql.persistent.state_stages import StateAccess
from penstock.sql.persistent.table_join import Lookup, with_table
from penstock.sql.persistent.table_reading import TableTopic
from penstock.sql.planning.persistent import PersistentPlan, planned_persistent
from penstock.sql.planning.spark_settings import own_session
from penstock.sql.planning.turn_text import looking_up, output
from penstock.sql.statements.queries import CreateAs, InsertSelect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ONE_PARTITION = ("spark.sql.leafNodeDefaultParallelism", "1")
"""Records that come through the worker stay in one task: those of a partition in their order."""


def planned_query(query: PersistentQuery) -> PersistentPlan:
    """The plan of a query that was stored; SqlError if it cannot be planned any more."""
    statement = parse(query.statement, query.variables)
    if not isinstance(statement, CreateAs | InsertSelect):
        raise StatementError("The statement of a persistent query has no SELECT.")
    sources = {source.name.upper(): source for source in query.sources}

    def find(name: str) -> Source:
        if name.upper() not in sources:
            raise StatementError(f"There is no stream or table {name}.")
        return sources[name.upper()]

    return planned_persistent(statement.query, find, query.sink.name)


class QueryTurns:
    """Builds the turns of one query. Use from one thread at a time."""

    def __init__(
        self,
        query: PersistentQuery,
        state_folder: str = "",
        registry: SqlRegistry = NO_REGISTRY,
    ) -> None:
        self._query = query
        self._plan = planned_query(query)
        self._registry = registry
        self._state_folder = state_folder
        self._session: SparkSession | None = None
        self._beside: SparkSession | None = None

    def build(self, records: DataFrame, turn: FrameTurn) -> DataFrame:
        """What comes out of ``records``; see ``turn_text`` for the columns."""
        frame = self._moved(records)
        if self._plan.pairing is not None:
            built = self._paired(with_json(frame, self._plan.sources, self._registry), turn)
        else:
            built = self._built(with_texts(frame, self._plan.source, self._registry), turn)
        return in_avro(built, self._query.sink, self._registry)

    def _paired(self, frame: DataFrame, turn: FrameTurn) -> DataFrame:
        whole = frame.coalesce(1) if turn.small else frame
        query = self._query
        access = pair_access(self._plan, self._state(turn), turn)
        return paired(whole, self._plan, query.sink, query.state_topic, access)

    def _built(self, frame: DataFrame, turn: FrameTurn) -> DataFrame:
        if self._plan.join is not None:
            frame = asked(frame, lambda view: looking_up(self._plan, view))
            frame = with_table(frame, self._lookup(self._plan, turn))
        if self._plan.aggregation is not None:
            # Over one partition Spark groups without a shuffle. A large turn has one by itself.
            whole = frame.coalesce(1) if turn.small else frame
            topic = self._query.state_topic
            return aggregated(whole, self._plan, self._query.sink, topic, self._state(turn))
        return asked(frame, lambda view: output(self._plan, self._query.sink, view))

    def _moved(self, records: DataFrame) -> DataFrame:
        """The same in a session of SQL's, whose settings expressions are planned with."""
        from pyspark.sql.classic.dataframe import DataFrame as Classic

        spark = records.sparkSession
        if self._session is None or self._beside is not spark:
            self._session, self._beside = own_session(spark), spark
            self._session.conf.set(*ONE_PARTITION)
        java = self._session._jvm.org.apache.spark.sql.classic.Dataset  # type: ignore[union-attr]  # None only without a JVM
        analysed = records._jdf.queryExecution().analyzed()
        return Classic(java.ofRows(self._session._jsparkSession, analysed), self._session)

    def _state(self, turn: FrameTurn) -> StateAccess:
        aggregation, topic = self._plan.aggregation, self._query.state_topic
        kept = TableTopic(_connection(turn.kafka), topic, False, False) if turn.kafka else None
        return StateAccess(
            kept,
            self._query.store or self._query.id,
            turn.ranges,
            aggregation.window if aggregation else None,
            self._state_folder,
        )

    def _lookup(self, plan: PersistentPlan, turn: FrameTurn) -> Lookup:
        join = plan.join
        assert join is not None  # noqa: S101 (asked for joins only)
        table = join.table
        return Lookup(
            TableTopic(
                _connection(turn.kafka),
                table.topic,
                table.in_json().key_format == "JSON",
                table.has_objects,
                self._registry,
                table.avro,
            ),
            self._query.store or self._query.id,
            _ends(turn, table),
            _drained(turn, _ends(turn, plan.source)),
            join.by_key,
            self._query.bootstrap,
            self._state_folder,
        )


def _ends(turn: FrameTurn, source: Source) -> dict[int, int]:
    found = {p: end for (topic, p), end in turn.side_ends.items() if topic == source.topic}
    if not found:
        raise BrokerUnavailable(f"the brokers do not say where topic {source.topic} ends")
    return found


def _drained(turn: FrameTurn, ends: Mapping[int, int]) -> frozenset[int]:
    """The partitions of the stream that the turn reads to their ends."""
    return frozenset(r.partition for r in turn.ranges if r.stop >= ends.get(r.partition, r.stop))


def _connection(kafka: Mapping[str, str]) -> Connection:
    rest = dict(kafka)
    return Connection(rest.pop("bootstrap.servers"), rest)
