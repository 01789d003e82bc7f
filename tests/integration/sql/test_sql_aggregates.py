"""Queries with aggregates on a real worker, broker and Spark."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka import Producer

from free_ports import free_port
from own_cluster import own_topics
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from penstock.sql.persistent.table_join import store_root
from rest_sql import RestSql
from sql_tables import EARLIEST, become, query_into
from topics import Topics
from typing_sql import Typing
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy


def test_groups_go_on_over_pauses_resets_and_lost_files(
    typed: Typing,
    topics: Topics,
    connectors: ConnectClient,
    name: str,
    sink: str,
) -> None:
    typed(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=2);"
        f"INSERT INTO s VALUES ('a', 1), ('b', 2), ('a', 3), ('c', 5); {EARLIEST}"
    )
    typed(
        f"CREATE TABLE {sink} AS SELECT k, COUNT(*) AS n, SUM(n) AS s, AVG(n) AS m FROM s "
        "GROUP BY k HAVING SUM(n) < 100 EMIT CHANGES;"
    )
    query = query_into(typed, sink)
    become(typed, connectors, sink, [("a", 2, 4, 2.0), ("b", 1, 2, 2.0), ("c", 1, 5, 5.0)])
    typed("INSERT INTO s VALUES ('a', 2), ('c', 100);")
    become(typed, connectors, sink, [("a", 3, 6, 2.0), ("b", 1, 2, 2.0)])
    assert len(connectors.status(query.id)["tasks"]) == 1

    typed(f"PAUSE {query.id};")
    eventually(lambda: "PAUSED" in typed("SHOW QUERIES;"), what="PAUSED")
    shutil.rmtree(store_root("") / query.store)
    typed(f"INSERT INTO s VALUES ('b', 4); RESUME {query.id};")
    become(typed, connectors, sink, [("a", 3, 6, 2.0), ("b", 2, 6, 3.0)])

    connectors.stop(query.id)
    eventually(
        lambda: connectors.status(query.id)["connector"]["state"] == "STOPPED", what="STOPPED"
    )
    connectors.reset_offsets(query.id)
    connectors.resume(query.id)
    typed("INSERT INTO s VALUES ('b', 6);")
    become(typed, connectors, sink, [("a", 3, 6, 2.0), ("b", 3, 12, 4.0)])

    assert "Physical Plan" in typed(f"EXPLAIN {query.id};")
    typed(f"TERMINATE {query.id};")
    eventually(
        lambda: query.state_topic not in topics.admin.list_topics(timeout=20).topics,
        what="the end of the topic of the state",
    )
    typed(f"DROP TABLE {sink} DELETE TOPIC; DROP STREAM s;")


def test_windows_are_rows_of_a_table(
    typed: Typing, topics: Topics, connectors: ConnectClient, name: str, sink: str
) -> None:
    typed(
        "CREATE TABLE users (id VARCHAR PRIMARY KEY, name VARCHAR) "
        f"WITH (KAFKA_TOPIC='{name}-users', PARTITIONS=1);"
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
        "INSERT INTO users VALUES ('1', 'Ann'), ('2', 'Bob'), ('3', 'Ann');"
        "INSERT INTO s (ROWTIME, k, n) VALUES (1000, '1', 1), (9000, '3', 2), (11000, '1', 4);"
        f"INSERT INTO s (ROWTIME, k, n) VALUES (12000, '2', 8); {EARLIEST}"
        f"CREATE TABLE {sink} AS SELECT name, SUM(n) AS total FROM s JOIN users ON s.k = users.id "
        "WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY name;"
    )
    become(
        typed,
        connectors,
        sink,
        [("Ann", 0, 10000, 3), ("Ann", 10000, 20000, 4), ("Bob", 10000, 20000, 8)],
    )
    typed("INSERT INTO s (ROWTIME, k, n) VALUES (2000, '3', 16);")
    rows = [("Ann", 0, 10000, 19), ("Ann", 10000, 20000, 4), ("Bob", 10000, 20000, 8)]
    become(typed, connectors, sink, rows)
    one = typed.rows(f"SELECT total, WINDOWEND FROM {sink} WHERE name = 'Ann' AND WINDOWSTART = 0;")
    assert one == [(19, 10000)]
    assert "true" in typed("SHOW TABLES;")
    keys = {message.key() for message in topics.messages(sink)}
    assert b"Ann" + (10000).to_bytes(8, "big") in keys
    typed("TERMINATE ALL;")


def test_nothing_is_counted_twice_or_not_at_all_by_killed_workers(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Two kills in the middle: in the end every row is in its group exactly once."""
    rows, groups = 300_000, 1000
    topics.create(name, 3)
    worker = WorkerProcess(
        tmp_path,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "session.timeout.ms": "6000"},
    )
    sink = re.sub(r"\W", "_", name).upper()
    typed = RestSql(worker)
    try:
        worker.start()
        write_rows(broker.bootstrap_servers, name, rows, groups)
        typed(f"CREATE STREAM s (k VARCHAR KEY, g VARCHAR) WITH (KAFKA_TOPIC='{name}');")
        typed(
            f"CREATE TABLE {sink} WITH (PARTITIONS=2) AS "
            "SELECT g, COUNT(*) AS n FROM s GROUP BY g EMIT CHANGES;",
            {"auto.offset.reset": "earliest"},
        )
        for part in (0.1, 0.5):
            eventually(
                lambda part=part: total(topics, sink) >= part * rows,  # type: ignore[misc]  # mypy: a lambda with a default
                within=180,
                what=f"{part:.0%} of the rows",
            )
            assert total(topics, sink) < rows, "the kill comes too late to show anything"
            worker.kill_tree()
            worker.start()
        eventually(lambda: total(topics, sink) >= rows, within=240, what="all rows")
        assert counts(topics, sink) == dict.fromkeys(range(groups), rows // groups)
    finally:
        worker.close()


def write_rows(servers: str, topic: str, count: int, groups: int) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20})
    for number in range(count):
        value = json.dumps({"g": str(number % groups)})
        producer.produce(topic, value, str(number), number % 3)
        if not number % 10_000:
            producer.flush(30)
    assert not producer.flush(30)


def counts(topics: Topics, topic: str) -> dict[int, int]:
    """The last count of each group."""
    return {
        int(message.key() or b""): json.loads(message.value() or b"")["N"]
        for message in topics.messages(topic)
    }


def total(topics: Topics, topic: str) -> int:
    return Counter(counts(topics, topic)).total()
