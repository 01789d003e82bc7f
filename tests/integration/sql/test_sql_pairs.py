"""Joins of two streams and of two tables on a real worker, broker and Spark."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from confluent_kafka import Producer

from penstock.client import ConnectClient, raise_if_failed
from penstock.embedded import EmbeddedBroker
from penstock.kafka.clients import Connection
from penstock.runtime.worker import Worker
from penstock.sql.avro.registry import SqlRegistry
from penstock.sql.testing.cases import Case, cases_in
from penstock.sql.testing.runner import run_cases
from project_scripts import ROOT
from sql_tables import EARLIEST, become, query_into, restarted
from topics import Topics
from typing_sql import Typing
from waiting import eventually

pytestmark = pytest.mark.heavy
CASES = cases_in(ROOT / "tests/data/sql/pairs.sql")
Row = tuple[str, int | None, int | None]


def title(case: Case) -> str:
    return case.name.replace(" ", "-")


@pytest.mark.parametrize("case", CASES, ids=title)
def test_a_case_of_the_data_file(
    worker: Worker, broker: EmbeddedBroker, schema_registry: str, case: Case
) -> None:
    spark = worker.herder._context.engine.session.get
    registry = SqlRegistry.of({"sql.schema.registry.url": schema_registry})
    (outcome,) = run_cases([case], Connection(broker.bootstrap_servers), spark, registry)
    assert outcome.problem == ""


def rows(topics: Topics, topic: str) -> list[Row]:
    """What has come out, as often as it has."""
    values = [(m.key(), json.loads(m.value() or b"{}")) for m in topics.messages(topic)]
    return sorted(
        (((key or b"").decode(), value.get("X"), value.get("Y")) for key, value in values), key=str
    )


def come_out(
    connectors: ConnectClient, topics: Topics, query: str, sink: str, wanted: Sequence[Row]
) -> None:
    """Wait until just these have come out, each once."""

    def same() -> bool:
        raise_if_failed(connectors, query)
        return len(rows(topics, sink)) >= len(wanted)

    eventually(same, within=180, every=0.5, what=f"{len(wanted)} rows in {sink}")
    assert rows(topics, sink) == sorted(wanted, key=str)


def test_streams_are_joined_over_restarts_and_lost_files(
    typed: Typing, topics: Topics, connectors: ConnectClient, name: str, sink: str
) -> None:
    typed(
        f"CREATE STREAM a (k VARCHAR KEY, x INT) WITH (KAFKA_TOPIC='{name}-a', PARTITIONS=2);"
        f"CREATE STREAM b (id VARCHAR KEY, y INT) WITH (KAFKA_TOPIC='{name}-b', PARTITIONS=2);"
        "INSERT INTO a (ROWTIME, k, x) VALUES (1000, 'k', 1), (2000, 'm', 2);"
        "INSERT INTO b (ROWTIME, id, y) VALUES (3000, 'k', 1), (4000, 'n', 2);"
        f"{EARLIEST} CREATE STREAM {sink} WITH (PARTITIONS=1) AS "
        "SELECT ROWKEY AS id, x, y FROM a FULL OUTER JOIN b "
        "WITHIN 10 SECONDS GRACE PERIOD 5 SECONDS ON UCASE(a.k) = UCASE(b.id);"
    )
    query = query_into(typed, sink).id
    come_out(connectors, topics, query, sink, [("K", 1, 1)])
    restarted(typed, query, query_into(typed, sink).store)
    typed("INSERT INTO b (ROWTIME, id, y) VALUES (9000, 'm', 3);")
    come_out(connectors, topics, query, sink, [("K", 1, 1), ("M", 2, 3)])
    restarted(typed, query, query_into(typed, sink).store)
    typed("INSERT INTO a (ROWTIME, k, x) VALUES (60000, 'z', 4);")
    come_out(connectors, topics, query, sink, [("K", 1, 1), ("M", 2, 3), ("N", None, 2)])
    explained = typed(f"EXPLAIN {query};")
    assert "0 records" in explained, "the lag is that of both topics"
    assert {each["partition"]["kafka_topic"] for each in connectors.offsets(query)} == {
        f"{name}-a",
        f"{name}-b",
    }
    typed("TERMINATE ALL;")
    assert not [t for t in topics.admin.list_topics().topics if query in t], "the state is deleted"


def test_tables_are_joined_over_restarts_lost_files_and_reset_offsets(
    typed: Typing, topics: Topics, connectors: ConnectClient, name: str, sink: str
) -> None:
    topic = f"KAFKA_TOPIC='{name}"
    typed(
        f"CREATE TABLE a (k VARCHAR PRIMARY KEY, x INT) WITH ({topic}-a', PARTITIONS=2);"
        f"CREATE TABLE b (id VARCHAR PRIMARY KEY, y INT) WITH ({topic}-b', PARTITIONS=2);"
        "INSERT INTO a VALUES ('k', 1), ('m', 2);"
        "INSERT INTO b VALUES ('k', 1), ('n', 2);"
        f"CREATE TABLE {sink} AS SELECT k, x, y FROM a LEFT JOIN b ON a.k = b.id;"
    )
    query = query_into(typed, sink)
    become(typed, connectors, sink, [("k", 1, 1), ("m", 2, None)])
    restarted(typed, query.id, query.store)
    typed("INSERT INTO b VALUES ('m', 3);")
    become(typed, connectors, sink, [("k", 1, 1), ("m", 2, 3)])
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    producer.produce(f"{name}-b", None, "k")
    producer.produce(f"{name}-a", None, "m")
    assert not producer.flush(30)
    become(typed, connectors, sink, [("k", 1, None)])
    connectors.stop(query.id)
    eventually(
        lambda: connectors.status(query.id)["connector"]["state"] == "STOPPED", what="STOPPED"
    )
    connectors.reset_offsets(query.id)
    connectors.resume(query.id)
    typed("INSERT INTO a VALUES ('p', 5);")
    become(typed, connectors, sink, [("k", 1, None), ("p", 5, None)])
    typed("TERMINATE ALL;")
