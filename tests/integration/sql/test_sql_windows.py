"""Session windows, EMIT FINAL and aggregates over tables on a real worker, broker and Spark."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import pytest

from penstock.client import ConnectClient
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


CASES = cases_in(ROOT / "tests/data/sql/windows.sql")


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


def test_sessions_go_on_over_restarts_and_lost_files(
    typed: Typing, topics: Topics, connectors: ConnectClient, name: str, sink: str
) -> None:
    typed(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
        "INSERT INTO s (ROWTIME, k, n) VALUES (1000, 'a', 1), (9000, 'a', 2), (50000, 'a', 4);"
        f"INSERT INTO s (ROWTIME, k, n) VALUES (7000, 'b', 8); {EARLIEST}"
        f"CREATE TABLE {sink} AS SELECT k, SUM(n) AS total FROM s "
        "WINDOW SESSION (20 SECONDS) GROUP BY k EMIT CHANGES;"
    )
    query = query_into(typed, sink)
    become(
        typed,
        connectors,
        sink,
        [("a", 1000, 9000, 3), ("a", 50000, 50000, 4), ("b", 7000, 7000, 8)],
    )
    restarted(typed, query.id, query.store)
    typed("INSERT INTO s (ROWTIME, k, n) VALUES (30000, 'a', 16), (25000, 'a', 32);")
    become(typed, connectors, sink, [("a", 1000, 50000, 55), ("b", 7000, 7000, 8)])
    one = typed.rows(f"SELECT total FROM {sink} WHERE k = 'a' AND WINDOWSTART = 1000;")
    assert one == [(55,)]
    ended = typed.rows(f"SELECT k, WINDOWSTART FROM {sink} WHERE WINDOWEND < 10000;")
    assert ended == [("b", 7000)]
    last = {message.key(): message.value() for message in topics.messages(sink)}
    alone = b"a" + (50000).to_bytes(8, "big") * 2
    assert last[alone] is None, "a session that is part of another one has a tombstone"
    assert last[b"a" + (50000).to_bytes(8, "big") + (1000).to_bytes(8, "big")]
    typed("TERMINATE ALL;")


def test_final_rows_come_out_once_over_restarts_and_lost_files(
    typed: Typing, topics: Topics, connectors: ConnectClient, name: str, sink: str
) -> None:
    typed(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
        "INSERT INTO s (ROWTIME, k, n) VALUES (1000, 'a', 1), (2000, 'b', 2), (11000, 'a', 4);"
        f"{EARLIEST} CREATE TABLE {sink} AS SELECT k, SUM(n) AS total FROM s "
        "WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 0 SECONDS) GROUP BY k EMIT FINAL;"
    )
    query = query_into(typed, sink)
    become(typed, connectors, sink, [("a", 0, 10000, 1), ("b", 0, 10000, 2)])
    restarted(typed, query.id, query.store)
    typed("INSERT INTO s (ROWTIME, k, n) VALUES (5000, 'a', 8), (12000, 'a', 16), (30000, 'c', 1);")
    become(
        typed, connectors, sink, [("a", 0, 10000, 1), ("a", 10000, 20000, 20), ("b", 0, 10000, 2)]
    )
    keys = [message.key() for message in topics.messages(sink)]
    assert len(keys) == len(set(keys)) == 3
    typed("TERMINATE ALL;")


def test_a_table_is_counted_over_restarts_and_lost_files(
    typed: Typing, connectors: ConnectClient, name: str, sink: str
) -> None:
    typed(
        "CREATE TABLE t (id VARCHAR PRIMARY KEY, city VARCHAR, n INT) "
        f"WITH (KAFKA_TOPIC='{name}', PARTITIONS=2);"
        "INSERT INTO t VALUES ('1', 'Rome', 1), ('2', 'Rome', 2), ('3', 'Oslo', 4);"
        f"CREATE TABLE {sink} AS SELECT city, COUNT(*) AS people, SUM(n) AS total FROM t "
        "GROUP BY city EMIT CHANGES;"
    )
    query = query_into(typed, sink)
    become(typed, connectors, sink, [("Oslo", 1, 4), ("Rome", 2, 3)])
    restarted(typed, query.id, query.store)
    typed("INSERT INTO t VALUES ('1', 'Oslo', 8), ('2', 'Rome', 16);")
    become(typed, connectors, sink, [("Oslo", 2, 12), ("Rome", 1, 16)])
    connectors.stop(query.id)
    eventually(
        lambda: connectors.status(query.id)["connector"]["state"] == "STOPPED", what="STOPPED"
    )
    connectors.reset_offsets(query.id)
    connectors.resume(query.id)
    typed("INSERT INTO t VALUES ('3', 'Rome', 32);")
    become(typed, connectors, sink, [("Oslo", 1, 8), ("Rome", 2, 48)])
    typed("TERMINATE ALL;")
