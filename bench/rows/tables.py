"""Topic to table and table to topic: ours against a plain script and Debezium."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import psycopg
from psycopg import sql

from bench.bed import Bed
from bench.child import Child
from bench.connect_jars import debezium_plugins, postgres_driver
from bench.deliveries import LONGEST_SECONDS, Expected, WrongContents, deliver
from bench.rest_worker import RestWorker
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.streaming import STREAMING, streaming
from bench.topic import Topic
from penstock.client.waiting import raise_if_failed, wait_until
from penstock.embedded.postgres import USER, EmbeddedPostgres
from penstock.kafka import clients

SCRIPT, DEBEZIUM = "plain copy and merge", "debezium"
PART = 10
"""A database takes far fewer rows in a second than a file takes lines."""
LOOK_SECONDS = 0.1
JSON = "org.apache.kafka.connect.json.JsonConverter"
SCHEMA = {
    "type": "struct",
    "fields": [
        {"field": "id", "type": "int32"},
        {"field": "seq", "type": "int32"},
        {"field": "line", "type": "string"},
    ],
}
CREATE = sql.SQL("CREATE TABLE {} (id int {}, seq int NOT NULL, line text NOT NULL)")
DURABLE = "One PostgreSQL 18 with its defaults (fsync and synchronous_commit on) for all sides."


@dataclass(frozen=True)
class Load:
    """A topic, how many records it has, and how they are written."""

    topic: Topic
    count: int
    mode: str

    @property
    def rows(self) -> int:
        """With upsert, every row is written twice."""
        return self.count // 2 if self.mode == "upsert" else self.count


Sides = dict[str, Callable[[], float]]


@contextmanager
def database() -> Iterator[EmbeddedPostgres]:
    """Not below the bench's folder, which may be closed to PostgreSQL's user."""
    with TemporaryDirectory(prefix="penstock-bench-postgres-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "data", {"wal_level": "logical"}) as running:
            yield running


@contextmanager
def debezium(bed: Bed) -> Iterator[RestWorker]:
    """Kafka Connect with Debezium's connectors."""
    plugins = debezium_plugins(bed.folder / bed.name("plugins"), bed.java, bed.say)
    with bed.new_kafka_connect({"plugin.path": str(plugins)}) as worker:
        yield worker


def into_table(bed: Bed, mode: str) -> RowResult:
    """The same topic into a table each."""
    load = filled(bed, max(1000, bed.scale.lines // PART), mode)
    with database() as postgres, debezium(bed) as peer:
        brokers = bed.connection.bootstrap_servers
        driver = postgres_driver(bed.java, bed.say)
        with (
            Child("bench.table_loop", brokers, postgres.uri) as loop,
            streaming(bed, [driver]) as spark,
        ):
            sides: Sides = {
                OURS: lambda: landed(bed, bed.penstock, postgres, load),
                SCRIPT: lambda: scripted(bed, loop, postgres, load),
                DEBEZIUM: lambda: landed(bed, peer, postgres, load),
                STREAMING: lambda: streamed(bed, spark, postgres, load),
            }
            figures = measured(bed, sides)
    load.topic.delete()
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[
            Target(SCRIPT, at_least=0.8),
            Target(DEBEZIUM, at_least=2.0),
            Target(STREAMING, at_least=2.0),
        ],
        notes=[f"{DURABLE} One task, JSON with a schema. Only ours is exactly once."],
    )


def from_table(bed: Bed) -> RowResult:
    """The same table into a topic each."""
    count = max(1000, bed.scale.lines // PART)
    with database() as postgres, debezium(bed) as peer:
        table = stocked(bed, postgres, count)
        sides: Sides = {
            OURS: lambda: taken(bed, bed.penstock, ours_from(postgres, table), table, count),
            DEBEZIUM: lambda: taken(bed, peer, theirs_from(postgres, table), table, count),
        }
        figures = measured(bed, sides)
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(DEBEZIUM, at_least=2.0)],
        notes=[
            "One task, JSON without a schema. Debezium's initial snapshot, tuned: "
            "batches of 10,000 and our producer's linger and batch size."
        ],
    )


ROWS = (
    Row(
        "topic-to-table-upsert",
        "Topic to PostgreSQL, upsert, one task",
        lambda bed: into_table(bed, "upsert"),
    ),
    Row(
        "topic-to-table-insert",
        "Topic to PostgreSQL, insert, one task",
        lambda bed: into_table(bed, "insert"),
    ),
    Row("table-to-topic", "PostgreSQL to topic, one task", from_table),
)


def measured(bed: Bed, sides: Sides) -> dict[str, list[float]]:
    """The figures of each side, after a warm-up."""
    for side, measure in sides.items():
        bed.say(f"warm-up of {side}: {measure():,.0f}")
    return interleaved(bed.scale.rounds, sides, bed.say)


def filled(bed: Bed, count: int, mode: str) -> Load:
    """A topic with so many records."""
    load = Load(bed.topic(), count, mode)
    bed.say(f"filling a topic with {count:,} records")
    producer = clients.producer(bed.connection)
    with bed.lines(count).path.open() as lines:
        for number, line in enumerate(lines):
            payload = {"id": number % load.rows, "seq": number, "line": line.rstrip()}
            producer.produce(load.topic.name, orjson.dumps({"schema": SCHEMA, "payload": payload}))
            if number % 10_000 == 0:
                producer.flush()
    producer.flush()
    return load


def scripted(bed: Bed, loop: Child, postgres: EmbeddedPostgres, load: Load) -> float:
    """Let the script write the topic; records per second, by its own clock."""
    with new_table(bed, postgres, load.mode) as table:
        seconds = float(loop.ask(f"{load.topic.name} {load.count} {table} {load.mode}"))
        check(postgres, table, load)
        return load.count / seconds


def streamed(bed: Bed, spark: Child, postgres: EmbeddedPostgres, load: Load) -> float:
    """Let a streaming job write the topic; records per second, from its start."""
    with new_table(bed, postgres, load.mode) as table:
        try:
            spark.ask(f"table {load.topic.name} {postgres.uri} {table} {load.mode}")
            started = time.perf_counter()
            with psycopg.connect(postgres.uri, autocommit=True) as link:
                ended = last_written(spark.check, link, table, load.count - 1)
            check(postgres, table, load)
            return load.count / (ended - started)
        finally:
            spark.ask("stop")


def landed(bed: Bed, worker: RestWorker, postgres: EmbeddedPostgres, load: Load) -> float:
    """Let a sink write the topic; records per second, from the request's answer."""
    with new_table(bed, postgres, load.mode) as table:
        name = bed.name("sink")
        made = ours_into if worker is bed.penstock else theirs_into
        config = {"topics": load.topic.name, "tasks.max": "1", "value.converter": JSON}
        try:
            started = worker.create(name, {**config, **made(postgres, table, load.mode)})
            with psycopg.connect(postgres.uri, autocommit=True) as link:
                healthy = partial(raise_if_failed, worker.client, name)
                ended = last_written(healthy, link, table, load.count - 1)
            check(postgres, table, load)
            return load.count / (ended - started)
        finally:
            worker.delete(name)


def last_written(
    healthy: Callable[[], None],
    link: psycopg.Connection[tuple[object, ...]],
    table: str,
    at: int,
) -> float:
    """When the last record's row was there: all are of one partition, so it comes last."""
    last = sql.SQL("SELECT 1 FROM {} WHERE seq = {}").format(sql.Identifier(table), at)

    def full() -> float | None:
        healthy()
        return time.perf_counter() if link.execute(last).fetchone() else None

    return wait_until(full, f"all rows of {table}", LONGEST_SECONDS, LOOK_SECONDS)


@contextmanager
def new_table(bed: Bed, postgres: EmbeddedPostgres, mode: str) -> Iterator[str]:
    """An empty one, with an index by which the last row is found."""
    table = bed.name("rows").replace("-", "_")
    key = sql.SQL("PRIMARY KEY" if mode == "upsert" else "")
    with psycopg.connect(postgres.uri, autocommit=True) as link:
        link.execute(CREATE.format(sql.Identifier(table), key))
        link.execute(sql.SQL("CREATE INDEX ON {} (seq)").format(sql.Identifier(table)))
    yield table
    with psycopg.connect(postgres.uri, autocommit=True) as link:
        link.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(table)))


def check(postgres: EmbeddedPostgres, table: str, load: Load) -> None:
    """WrongContents unless the rows are those that are wanted."""
    asked = sql.SQL("SELECT count(*), count(DISTINCT seq), min(seq) FROM {}")
    with psycopg.connect(postgres.uri) as link:
        found = link.execute(asked.format(sql.Identifier(table))).fetchone()
    if found != (load.rows, load.rows, load.count - load.rows):
        raise WrongContents(f"table {table} has {found}")


def ours_into(postgres: EmbeddedPostgres, table: str, mode: str) -> dict[str, str]:
    """The configuration of our sink."""
    return {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection.url": postgres.jdbc_url,
        "connection.user": USER,
        "connection.password": postgres.password,
        "table.name.format": f"public.{table}",
        "insert.mode": mode,
        **({"pk.mode": "record_value", "pk.fields": "id"} if mode == "upsert" else {}),
    }


def theirs_into(postgres: EmbeddedPostgres, table: str, mode: str) -> dict[str, str]:
    """The configuration of Debezium's, tuned."""
    keys = {"primary.key.mode": "record_value", "primary.key.fields": "id"}
    return {
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "connection.url": postgres.jdbc_url,
        "connection.username": USER,
        "connection.password": postgres.password,
        "collection.name.format": table,
        "insert.mode": mode,
        "batch.size": "3000",
        "consumer.override.max.poll.records": "3000",
        **(keys if mode == "upsert" else {"primary.key.mode": "none"}),
    }


def stocked(bed: Bed, postgres: EmbeddedPostgres, count: int) -> str:
    """A new table with so many rows."""
    table = bed.name("table").replace("-", "_")
    bed.say(f"filling a table with {count:,} rows")
    with psycopg.connect(postgres.uri, autocommit=True) as link:
        link.execute(CREATE.format(sql.Identifier(table), sql.SQL("PRIMARY KEY")))
        rows = "INSERT INTO {} SELECT n, n, repeat('x', 150) || n FROM generate_series(1, %s) n"
        link.execute(sql.SQL(rows).format(sql.Identifier(table)), [count])
    return table


def taken(bed: Bed, worker: RestWorker, config: dict[str, str], table: str, count: int) -> float:
    """Let a source read the table; records per second, from the request's answer."""
    name = bed.name("source")
    ours = worker is bed.penstock
    topic = Topic(bed.connection, f"{name}-{table}" if ours else f"{name}.public.{table}")
    converters = {
        "key.converter": JSON,
        "value.converter": JSON,
        "key.converter.schemas.enable": "false",
        "value.converter.schemas.enable": "false",
    }
    prefix = {"topic.prefix": f"{name}-" if ours else name}
    try:
        delivery = deliver(
            topic,
            Expected(count),
            lambda: worker.create(name, {"tasks.max": "1", **converters, **prefix, **config}),
            lambda: raise_if_failed(worker.client, name),
            committed=ours,
        )
        return delivery.records_per_second
    finally:
        worker.delete(name)
        topic.delete()


def ours_from(postgres: EmbeddedPostgres, table: str) -> dict[str, str]:
    """The configuration of our source."""
    return {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": postgres.jdbc_url,
        "connection.user": USER,
        "connection.password": postgres.password,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "table.whitelist": f"public.{table}",
        "key.columns": "id",
    }


def theirs_from(postgres: EmbeddedPostgres, table: str) -> dict[str, str]:
    """The configuration of Debezium's source: its initial snapshot, tuned."""
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(postgres.port),
        "database.user": USER,
        "database.password": postgres.password,
        "database.dbname": "postgres",
        "plugin.name": "pgoutput",
        "snapshot.mode": "initial_only",
        "table.include.list": f"public.{table}",
        "snapshot.fetch.size": "10000",
        "max.batch.size": "10000",
        "max.queue.size": "40000",
        "producer.override.linger.ms": "5",
        "producer.override.batch.size": "1000000",
    }
