"""Sessions with EMIT FINAL on a worker that is killed while they come out."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import json
import re
import struct
import time
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
GROUPS, ROUNDS, ROWS = 300, 160, 5
MINUTE = 60_000
Row = tuple[str, int]


def rows(begin: int) -> Iterable[Row]:
    """In each minute every group has a session of some rows; at last a row ends them all."""
    for number in range(ROUNDS):
        for step in range(ROWS):
            for group in range(GROUPS):
                yield str(group), begin + number * MINUTE + step * 1000 + group
    yield "end", begin + (ROUNDS + 1) * MINUTE


def write(servers: str, topic: str, begin: int) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20})
    for count, (group, at) in enumerate(rows(begin)):
        producer.produce(topic, json.dumps({"g": group}), group, 0, timestamp=at)
        if not count % 10_000:
            producer.flush(30)
    assert not producer.flush(30)


def wanted(begin: int) -> list[tuple[str, int, int, int]]:
    """Key, beginning, end and count of every session that has come to its end."""
    return sorted(
        (str(group), first, first + (ROWS - 1) * 1000, ROWS)
        for number in range(ROUNDS)
        for group in range(GROUPS)
        for first in [begin + number * MINUTE + group]
    )


def found(topics: Topics, sink: str) -> list[tuple[str, int, int, int]]:
    """The same of all records there are."""
    read: list[tuple[str, int, int, int]] = []
    for message in topics.messages(sink):
        key, value = message.key() or b"", message.value()
        last, first = struct.unpack(">qq", key[-16:])
        count = json.loads(value)["N"] if value else -1
        read.append((key[:-16].decode(), first, last, count))
    return sorted(read)


def test_each_session_comes_out_once_by_killed_workers(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    topics.create(name, 1)
    begin = int(time.time() * 1000) - 2 * ROUNDS * MINUTE
    worker = WorkerProcess(
        tmp_path,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "session.timeout.ms": "6000"},
    )
    sink, typed = re.sub(r"\W", "_", name).upper(), RestSql(worker)
    try:
        worker.start()
        write(broker.bootstrap_servers, name, begin)
        typed(f"CREATE STREAM s (k VARCHAR KEY, g VARCHAR) WITH (KAFKA_TOPIC='{name}');")
        typed(
            f"CREATE TABLE {sink} AS SELECT g, COUNT(*) AS n FROM s "
            "WINDOW SESSION (10 SECONDS, GRACE PERIOD 5 SECONDS) GROUP BY g EMIT FINAL;",
            {"auto.offset.reset": "earliest"},
        )
        whole = wanted(begin)
        for part in (0.05, 0.5):
            eventually(
                lambda part=part: topics.end(sink) >= part * len(whole),  # type: ignore[misc]  # mypy: a lambda with a default
                within=180,
                what=f"{part:.0%} of the sessions",
            )
            assert len(found(topics, sink)) < len(whole), "the kill comes too late"
            worker.kill_tree()
            worker.start()
        eventually(lambda: len(found(topics, sink)) >= len(whole), within=180, what="all sessions")
        assert found(topics, sink) == whole
    finally:
        worker.close()
