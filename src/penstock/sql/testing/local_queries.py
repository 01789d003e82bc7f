"""Persistent queries without a worker: their turns run here, whenever a test says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from confluent_kafka import Producer

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.sdk.connectors import TopicPartition
from penstock.sdk.errors import UserError
from penstock.sdk.frames import FrameTurn, TopicRange
from penstock.sql.avro.registry import NO_REGISTRY, SqlRegistry
from penstock.sql.catalog.query import CONNECTOR_CLASS, PersistentQuery
from penstock.sql.persistent.turns import QueryTurns
from penstock.sql.running import reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = "0 AS task", "key", "value", "topic", "partition", "offset", "timestamp", "headers"
FLUSH_SECONDS = 30.0


@dataclass
class _Running:
    """One query, and how far it has come."""

    query: PersistentQuery
    turns: QueryTurns
    positions: dict[tuple[str, int], int] = field(default_factory=dict)
    paused: bool = True


class LocalQueries:
    """Stands in for Kafka Connect where statements run persistent queries; connectors are refused.

    Use from one thread.
    """

    def __init__(
        self,
        connection: Connection,
        spark: Callable[[], SparkSession],
        state_folder: str,
        registry: SqlRegistry = NO_REGISTRY,
    ) -> None:
        self._registry = registry
        self._connection = connection
        self._spark = spark
        self._folder = state_folder
        self._running: dict[str, _Running] = {}
        self._admin = clients.admin(connection)
        self._producer: Producer | None = None

    def catch_up(self) -> None:
        """Run turns until no query has anything left to read, also of what others have written."""
        while any(self._turn(each) for each in self._running.values() if not each.paused):
            pass

    def _turn(self, running: _Running) -> bool:
        """Whether there was something to read."""
        query, at = running.query, running.positions
        ends = {
            (topic, partition): end
            for topic in query.topics
            for partition, end in reading.ends(self._admin, topic).items()
        }
        ranges = tuple(
            TopicRange(*place, at.get(place, 0), end)
            for place, end in ends.items()
            if at.get(place, 0) < end
        )
        if not ranges:
            return False
        kafka = {"bootstrap.servers": self._connection.bootstrap_servers}
        turn = FrameTurn(query.id, ranges, self._side_ends(query), kafka, small=True)
        self._produce(running.turns.build(self._records(ranges), turn))
        running.positions = ends
        return True

    def _records(self, ranges: Sequence[TopicRange]) -> DataFrame:
        topics = dict.fromkeys(each.topic for each in ranges)
        frame = reduce(lambda a, b: a.union(b), [self._of_topic(each, ranges) for each in topics])
        return frame.coalesce(1).selectExpr(*COLUMNS)

    def _of_topic(self, topic: str, ranges: Sequence[TopicRange]) -> DataFrame:
        mine = [each for each in ranges if each.topic == topic]
        starts, stops = ({r.partition: getattr(r, e) for r in mine} for e in ("start", "stop"))
        return reading.frame(self._spark(), self._connection, topic, starts, stops)

    def _side_ends(self, query: PersistentQuery) -> dict[TopicPartition, int]:
        return {
            TopicPartition(source.topic, partition): end
            for source in query.sources
            for partition, end in reading.ends(self._admin, source.topic).items()
        }

    def _produce(self, built: DataFrame) -> None:
        from penstock.engine.frames.output_columns import output_columns

        producer = self._producer = self._producer or clients.producer(self._connection)
        for row in output_columns(built).toArrow().to_pylist():
            if row["error"] is None:
                headers = [(each["key"], each["value"]) for each in row["headers"] or ()]
                more = {} if row["timestamp"] is None else {"timestamp": row["timestamp"]}
                producer.produce(row["topic"], row["value"], row["key"], headers=headers, **more)
        if producer.flush(FLUSH_SECONDS):
            raise UserError("The broker did not take what a query has written.")

    # What statements ask of Kafka Connect.

    def connectors(self) -> list[str]:
        """The ids of the queries."""
        return list(self._running)

    def create(
        self, name: str, config: Mapping[str, Any], initial_state: str | None = None
    ) -> dict[str, Any]:
        """Know a query; it runs once it is resumed."""
        if config.get("connector.class") != CONNECTOR_CLASS:
            _refuse()
        query = PersistentQuery.of_config(config)
        self._running[name] = _Running(query, QueryTurns(query, self._folder, self._registry))
        return {"name": name}

    def put_config(self, name: str, config: Mapping[str, Any]) -> None:
        """Let another query go on in the place of one."""
        query, running = PersistentQuery.of_config(config), self._running[name]
        running.query = query
        running.turns = QueryTurns(query, self._folder, self._registry)

    def alter_offsets(self, name: str, offsets: Sequence[Mapping[str, Any]]) -> str:
        """Set where it begins."""
        for each in offsets:
            place = (each["partition"]["kafka_topic"], each["partition"]["kafka_partition"])
            self._running[name].positions[place] = each["offset"]["kafka_offset"]
        return ""

    def resume(self, name: str) -> None:
        """Let it run."""
        self._running[name].paused = False

    def pause(self, name: str) -> None:
        """Let it wait."""
        self._running[name].paused = True

    def delete(self, name: str) -> None:
        """Forget it."""
        self._running.pop(name, None)

    def status(self, name: str) -> dict[str, Any]:
        """As Kafka Connect tells it."""
        state = "PAUSED" if self._running[name].paused else "RUNNING"
        return {"name": name, "connector": {"state": state}, "tasks": [{"id": 0, "state": state}]}

    def __getattr__(self, name: str) -> NoReturn:
        _refuse()


def _refuse() -> NoReturn:
    raise UserError("`penstock sql test` runs no connectors: insert records instead.")
