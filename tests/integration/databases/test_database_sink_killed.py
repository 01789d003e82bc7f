"""The JDBC sink, killed between the database's commit and Kafka's."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker, Jars, Java
from sink_offsets import entry, in_group
from tables import Tables
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

RECORDS = 500


def _record(number: int) -> bytes:
    schema = {"type": "struct", "fields": [{"field": "n", "type": "int32"}]}
    return json.dumps({"schema": schema, "payload": {"n": number}}).encode()


@pytest.mark.heavy
def test_nothing_is_lost_or_written_twice(
    java: Java, jars: Jars, tables: Tables, name: str, tmp_path: Path
) -> None:
    """The broker is frozen while the database commits, so Kafka's commit cannot have happened."""
    tables.run("CREATE TABLE numbers (n int)")
    with EmbeddedBroker(tmp_path / "broker", java, jars) as broker:
        topics = Topics(broker.bootstrap_servers)
        topics.create(name)
        worker = WorkerProcess(
            tmp_path / "worker",
            port=free_port(),
            bootstrap_servers=broker.bootstrap_servers,
            properties=own_topics(name),
        )
        try:
            worker.start()
            worker.client.create(name, _config(tables, name))
            topics.produce(name, [_record(-1)])
            eventually(lambda: tables.run("SELECT n FROM numbers") == [(-1,)], within=240)
            with tables.connection() as other:
                other.execute("BEGIN")
                other.execute("LOCK TABLE numbers IN ACCESS EXCLUSIVE MODE")
                topics.produce(name, [_record(n) for n in range(RECORDS)])
                eventually(
                    lambda: _waits(tables), within=240, what="a sink that waits for the lock"
                )
                os.kill(broker.pid, signal.SIGSTOP)
                other.execute("COMMIT")
            try:
                eventually(lambda: _kept(tables) > 3, within=120, what="the database's commit")
                worker.kill_tree()
            finally:
                os.kill(broker.pid, signal.SIGCONT)
            (committed,) = in_group(topics, f"connect-{name}")
            assert committed["offset"]["kafka_offset"] < _kept(tables), "between the two commits"
            worker.start()
            end = [entry(name, 0, topics.end(name))]
            eventually(lambda: in_group(topics, f"connect-{name}") == end, within=240)
        finally:
            worker.close()
    found = [n for (n,) in tables.run("SELECT n FROM numbers ORDER BY n")]
    assert found == list(range(-1, RECORDS))


def _config(tables: Tables, topic: str) -> dict[str, str]:
    return {
        **tables.config(),
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "table.name.format": f"{tables.schema}.numbers",
        "offsets.table": f"{tables.schema}.offsets",
        "topics": topic,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }


def _waits(tables: Tables) -> bool:
    asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
    return bool(tables.run(f"{asked} application_name = 'penstock'")[0][0])


def _kept(tables: Tables) -> int:
    return int(tables.run("SELECT next FROM offsets")[0][0])
