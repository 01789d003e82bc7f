"""Connector statements typed at a real worker, over REST and in process."""

from __future__ import annotations

from pathlib import Path

import pytest

import connector_story
from bench.connect_jars import ensure_connect_jars
from bench.kafka_connect import start_kafka_connect
from commands import Commands
from old_connect import old_connect
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.runtime.worker import Worker
from penstock.sql.connecting.herder_connect import HerderConnect
from topics import Topics
from typing_sql import Typing

SECRET = "hunter2-of-this-test"
EARLIER = "3.9.1"
"""Another release than that of the bench: the last one before Kafka 4."""


def test_the_statements_of_the_seed_on_a_worker(
    typed: Typing, connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    connector_story.tell(typed, connectors, topics, name, tmp_path)


def test_in_process_the_same_statements_use_the_herder(
    typed: Typing, worker: Worker, connectors: ConnectClient, name: str, tmp_path: Path
) -> None:
    typed.home.connect = HerderConnect(worker.herder)
    typed(
        f"CREATE SOURCE CONNECTOR {name} WITH (connector.class=FileStreamSourceConnector, "
        f"file='{tmp_path}/in', topic={name});"
    )
    assert connectors.info(name)["config"]["topic"] == name
    assert name in typed("SHOW CONNECTORS;")
    typed(f"ALTER CONNECTOR {name} SET (batch.size=5); STOP CONNECTOR {name};")
    assert connectors.config(name)["batch.size"] == "5"
    assert "Partition | Offset" in typed(f"SHOW CONNECTOR OFFSETS {name};")
    typed(f"DESCRIBE CONNECTOR {name}; DROP CONNECTOR {name};")
    assert name not in connectors.connectors()


def test_no_trace_of_a_connector_statement_in_the_catalog(
    typed: Typing, topics: Topics, name: str, tmp_path: Path
) -> None:
    made = typed(
        f"CREATE STREAM marker (a INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
        f"CREATE SOURCE CONNECTOR {name} WITH (connector.class=FileStreamSourceConnector, "
        f"file='{tmp_path}/in', topic={name}, my.password='{SECRET}');"
        f"DESCRIBE CONNECTOR {name}; SHOW CONNECTORS; DROP CONNECTOR {name};"
    )
    assert SECRET not in made
    records = topics.messages(f"{name}-catalog", committed=False)
    keys = [(record.key() or b"").decode() for record in records]
    assert keys == ["source/MARKER"]
    assert not any(SECRET.encode() in (record.value() or b"") for record in records)


def test_the_command_runs_statements_and_exits_as_they_end(
    penstock: Commands, client: ConnectClient, tmp_path: Path
) -> None:
    shown = penstock.done("sql", "--connect-url", client.url, "-e", "SHOW CONNECTOR PLUGINS;")
    assert "FileStreamSinkConnector" in shown.out
    script = tmp_path / "a.sql"
    script.write_text("DEFINE c = 'nobody';\nSHOW CONNECTORS;\nDROP CONNECTOR ${c};\n")
    failed = penstock("sql", "--connect-url", client.url, "-f", str(script), "-o", "json")
    assert failed.code == 1
    assert '"@type": "connector_list"' in failed.out
    assert "Connector nobody does not exist" in failed.err


@pytest.mark.heavy
def test_the_statements_of_the_seed_on_real_kafka_connect(
    tmp_path: Path,
    broker: EmbeddedBroker,
    jars: Jars,
    java: Java,
    topics: Topics,
    penstock: Commands,
    name: str,
) -> None:
    class_path = f"{ensure_connect_jars(java, print)}/*:{jars.broker}/*"
    settings = {"offset.flush.interval.ms": "1000"}
    with start_kafka_connect(
        tmp_path / "kc", name, broker.bootstrap_servers, java, class_path, properties=settings
    ) as worker:
        _tell(worker.client, broker, topics, name, tmp_path)
        _by_the_command(penstock, worker.client)


@pytest.mark.heavy
def test_the_statements_of_the_seed_on_an_earlier_kafka_connect(
    tmp_path: Path,
    broker: EmbeddedBroker,
    java: Java,
    topics: Topics,
    penstock: Commands,
    name: str,
) -> None:
    with old_connect(tmp_path / "kc", name, EARLIER, broker.bootstrap_servers, java) as client:
        _tell(client, broker, topics, name, tmp_path)
        _by_the_command(penstock, client)


def _by_the_command(penstock: Commands, client: ConnectClient) -> None:
    shown = penstock.done("sql", "--connect-url", client.url, "-e", "SHOW CONNECTOR PLUGINS;")
    assert "FileStreamSinkConnector" in shown.out
    failed = penstock("sql", "--connect-url", client.url, "-e", "DROP CONNECTOR nobody;")
    assert failed.code == 1
    assert "Connector nobody does not exist" in failed.err


def _tell(
    client: ConnectClient, broker: EmbeddedBroker, topics: Topics, name: str, folder: Path
) -> None:
    typed = Typing(client, broker.bootstrap_servers, lambda: None, f"{name}-catalog")
    try:
        connector_story.tell(typed, client, topics, f"{name}-t", folder)
    finally:
        typed.home.close()
