"""The JDBC sink on a worker: the group's offsets rule, and bad records are set aside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

from penstock.client import ConnectClient
from sink_offsets import entry
from tables import Tables
from topics import Topics
from waiting import eventually

JSON = "org.apache.kafka.connect.json.JsonConverter"


def _record(number: object) -> bytes:
    fields = [{"field": "n", "type": "int32"}, {"field": "note", "type": "string"}]
    schema = {"type": "struct", "fields": fields}
    return json.dumps({"schema": schema, "payload": {"n": number, "note": f"ü{number}"}}).encode()


def _config(tables: Tables, secret: str, topic: str) -> dict[str, str]:
    return {
        **tables.config(auto_create="true"),
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection.password": secret,
        "table.name.format": f"{tables.schema}.numbers",
        "offsets.table": f"{tables.schema}.offsets",
        "topics": topic,
        "value.converter": JSON,
    }


def test_altering_resetting_and_moving_the_group_move_the_sink(
    connectors: ConnectClient, topics: Topics, tables: Tables, secrets_folder: Path, name: str
) -> None:
    """Rows are added, so what is read again shows: rewind, skip forward, one null, reset, moved."""
    topics.create(name, 2)
    for partition in (0, 1):
        numbers = [_record(100 * partition + n) for n in range(10)]
        topics.produce(name, numbers, partition=partition)
    connectors.create(name, _config(tables, tables.secret(secrets_folder, name), name))
    count = 20

    def rows() -> list[int]:
        return [n for (n,) in tables.run("SELECT n FROM numbers ORDER BY ctid")]

    def settle(more: int) -> list[int]:
        """The rows that were added, once there are so many and the sink has read everything."""
        nonlocal count
        count += more
        eventually(lambda: len(rows()) >= count, within=90, what=f"{count} rows")
        eventually(lambda: _at_end(connectors, topics, name), within=90, what="the end")
        assert len(rows()) == count
        return sorted(rows()[count - more :])

    def stopped(change: Callable[[], object]) -> None:
        connectors.stop(name)
        change()
        connectors.resume(name)

    eventually(lambda: tables.run("SELECT to_regclass('numbers') IS NOT NULL")[0][0], within=90)
    settle(0)
    stopped(lambda: connectors.alter_offsets(name, [entry(name, 0, 7)]))
    assert settle(3) == [7, 8, 9]
    stopped(lambda: connectors.alter_offsets(name, [entry(name, 1, None)]))
    assert settle(10) == list(range(100, 110))
    stopped(lambda: connectors.reset_offsets(name))
    assert settle(20) == [*range(10), *range(100, 110)]

    connectors.stop(name)
    topics.produce(name, [_record(n) for n in range(10, 15)], partition=0)
    end = topics.end(name, 0)
    connectors.alter_offsets(name, [entry(name, 0, end - 1 - 2)])
    connectors.resume(name)
    assert settle(2) == [13, 14]

    connectors.stop(name)
    moved = [TopicPartition(name, 1, 8)]
    group = ConsumerGroupTopicPartitions(f"connect-{name}", moved)
    (answer,) = topics.admin.alter_consumer_group_offsets([group]).values()
    answer.result(20)
    connectors.resume(name)
    assert settle(2) == [108, 109]


def _at_end(connectors: ConnectClient, topics: Topics, name: str) -> bool:
    ends = [entry(name, partition, topics.end(name, partition)) for partition in (0, 1)]
    return sorted(connectors.offsets(name), key=str) == sorted(ends, key=str)


@pytest.mark.heavy
def test_epochs_begin_anew_and_the_sink_goes_on(
    connectors: ConnectClient, topics: Topics, tables: Tables, secrets_folder: Path, name: str
) -> None:
    """As after a week without workers: Kafka has forgotten their group, the database has not."""
    topics.create(name)
    topics.produce(name, [_record(n) for n in range(10)])
    connectors.create(name, _config(tables, tables.secret(secrets_folder, name), name))
    found = "SELECT n FROM numbers ORDER BY n"
    eventually(lambda: _count(tables) == 10, within=90, what="rows")
    connectors.stop(name)
    tables.run("UPDATE offsets SET epoch = 1::bigint << 62")
    topics.produce(name, [_record(n) for n in range(10, 20)])
    connectors.resume(name)
    eventually(lambda: _count(tables) >= 20, within=90, what="the rest")
    assert tables.run(found) == [(n,) for n in range(20)]
    assert int(tables.run("SELECT epoch FROM offsets")[0][0]) < 1 << 62


def _count(tables: Tables) -> int:
    if not tables.run("SELECT to_regclass('numbers') IS NOT NULL")[0][0]:
        return 0
    return int(tables.run("SELECT count(*) FROM numbers")[0][0])


def test_bad_records_become_dead_letters_and_the_good_ones_land(
    connectors: ConnectClient, topics: Topics, tables: Tables, secrets_folder: Path, name: str
) -> None:
    tables.run("CREATE TABLE numbers (n int PRIMARY KEY CHECK (n <> 13), note text)")
    topics.create(name)
    numbers = [*range(50), 7]
    topics.produce(name, [_record(n) for n in numbers])
    config = {
        **_config(tables, tables.secret(secrets_folder, name), name),
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{name}-dead",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    connectors.create(name, config)
    eventually(lambda: topics.end(f"{name}-dead") >= 2, within=90)
    eventually(lambda: tables.run("SELECT count(*) FROM numbers") == [(49,)], within=90)
    dead = topics.messages(f"{name}-dead")
    payloads = [json.loads(message.value() or b"")["payload"]["n"] for message in dead]
    assert payloads == [13, 7]
    headers: list[Any] = [message.headers() for message in dead]
    told = [dict(each) for each in headers]
    assert b"violates check constraint" in told[0]["__connect.errors.exception.message"]
    assert b"duplicate key" in told[1]["__connect.errors.exception.message"]
    assert told[0]["__connect.errors.offset"] == b"13"


def test_a_router_names_the_table_and_offsets_stay_those_of_the_topic(
    connectors: ConnectClient, topics: Topics, tables: Tables, secrets_folder: Path, name: str
) -> None:
    topics.create(name)
    topics.produce(name, [_record(n) for n in range(5)])
    router = {
        "table.name.format": f"{tables.schema}.${{topic}}",
        "transforms": "route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": ".*",
        "transforms.route.replacement": "numbers",
    }
    secret = tables.secret(secrets_folder, name)
    connectors.create(name, {**_config(tables, secret, name), **router})
    eventually(lambda: _count(tables) == 5, within=90, what="rows")
    ended = [entry(name, 0, topics.end(name, 0))]
    eventually(lambda: connectors.offsets(name) == ended, within=90, what="the end")
    assert tables.run("SELECT topic, next FROM offsets") == [(name, 5)]
