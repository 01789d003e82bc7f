"""A join that goes on over a million rows, on a worker that is killed in the middle."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from rest_sql import RestSql
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
ROWS, USERS, PARTITIONS = 1_000_000, 1000, 2
Row = tuple[str, dict[str, object]]


def views() -> Iterable[Row]:
    for number in range(ROWS):
        yield str(number % USERS), {"number": number}


def users() -> Iterable[Row]:
    for number in range(USERS):
        yield str(number), {"name": f"Name {number}"}


def write(topics: Topics, topic: str, rows: Iterable[Row]) -> None:
    topics.create(topic, PARTITIONS)
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers, "linger.ms": 20})
    for count, (key, value) in enumerate(rows):
        producer.produce(topic, json.dumps(value), key, count % PARTITIONS)
        if not count % 20_000:
            producer.flush(30)
    assert not producer.flush(30)


def progress(topics: Topics, topic: str) -> int:
    """About how many rows have come out: markers of transactions count as well."""
    return sum(topics.end(topic, partition) for partition in range(PARTITIONS))


def await_progress(topics: Topics, topic: str, rows: int) -> None:
    eventually(lambda: progress(topics, topic) >= rows, within=300, what=f"{rows} rows of {ROWS}")


def test_every_row_is_joined_once_by_killed_workers(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    worker = WorkerProcess(
        tmp_path,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "session.timeout.ms": "6000"},
    )
    sink = re.sub(r"\W", "_", name).upper()
    typed = RestSql(worker)
    write(topics, name, views())
    write(topics, f"{name}-users", users())
    try:
        worker.start()
        typed(f"CREATE STREAM v (id VARCHAR KEY, number INT) WITH (KAFKA_TOPIC='{name}');")
        typed(
            "CREATE TABLE users (id VARCHAR PRIMARY KEY, name VARCHAR) "
            f"WITH (KAFKA_TOPIC='{name}-users');"
        )
        typed(
            f"CREATE STREAM {sink} WITH (PARTITIONS={PARTITIONS}) AS SELECT v.id AS id, number, "
            "name FROM v JOIN users ON v.id = users.id EMIT CHANGES;",
            {"auto.offset.reset": "earliest"},
        )
        for part in (0.1, 0.5):
            wanted = int(part * ROWS)
            await_progress(topics, sink, wanted)
            assert progress(topics, sink) < 0.95 * ROWS, "the kill comes too late to show anything"
            worker.kill_tree()
            worker.start()
        await_progress(topics, sink, ROWS)
        assert_joined_once(topics, sink)
    finally:
        worker.close()


def assert_joined_once(topics: Topics, sink: str) -> None:
    """Complete, nothing twice, and each with the name of its own user."""
    eventually(
        lambda: len(topics.messages(sink)) >= ROWS, within=120, every=2, what="all rows committed"
    )
    found = [json.loads(message.value() or b"") for message in topics.messages(sink)]
    assert sorted(row["NUMBER"] for row in found) == list(range(ROWS))
    assert all(row["NAME"] == f"Name {row['NUMBER'] % USERS}" for row in found)
