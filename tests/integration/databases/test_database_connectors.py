"""Database connectors on a worker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from penstock.client import ConnectClient
from tables import Tables
from topics import Topics
from waiting import eventually


def _values(topics: Topics, topic: str) -> list[Any]:
    return [json.loads(message.value() or b"null") for message in topics.messages(topic)]


def test_rows_become_records_and_altered_offsets_move_the_source(
    connectors: ConnectClient, topics: Topics, tables: Tables, secrets_folder: Path, name: str
) -> None:
    """The class name in the case of some examples, the password by a provider."""
    tables.run("CREATE TABLE orders (id serial PRIMARY KEY, note text)")
    tables.run("INSERT INTO orders (note) SELECT 'n' || n FROM generate_series(1, 5000) n")
    config = {
        **tables.config(mode="incrementing", schema_pattern=tables.schema),
        "connector.class": "jdbcSourceConnector",
        "connection.password": tables.secret(secrets_folder, name),
        "topic.prefix": f"{name}-",
        "poll.interval.ms": "100",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    topic = f"{name}-orders"
    topics.create(topic)
    connectors.create(name, config)
    eventually(lambda: len(_values(topics, topic)) >= 5000, within=120)
    tables.run("INSERT INTO orders (note) VALUES ('later')")
    eventually(lambda: len(_values(topics, topic)) >= 5001, within=120)
    assert [row["id"] for row in _values(topics, topic)] == list(range(1, 5002))
    (stored,) = connectors.offsets(name)
    assert stored["partition"] == {"protocol": "1", "table": f"{tables.schema}.orders"}
    assert stored["offset"] == {"incrementing": 5001}
    connectors.stop(name)
    connectors.alter_offsets(name, [{**stored, "offset": {"incrementing": 4999}}])
    connectors.resume(name)
    eventually(lambda: len(_values(topics, topic)) >= 5003, within=120)
    assert [row["id"] for row in _values(topics, topic)[5001:]] == [5000, 5001]


def test_a_wrong_password_is_told(
    connectors: ConnectClient, tables: Tables, secrets_folder: Path, name: str
) -> None:
    (secrets_folder / f"{name}.properties").write_text("password=hunter2-wrong\n")
    config = {
        **tables.config(mode="incrementing", topic_prefix=f"{name}-"),
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.password": f"${{file:{secrets_folder / name}.properties:password}}",
    }
    connectors.create(name, config)

    def failed() -> str:
        tasks = connectors.status(name)["tasks"]
        return str(tasks[0]["trace"]) if tasks and tasks[0]["state"] == "FAILED" else ""

    trace = eventually(failed, within=120)
    assert "Check 'connection.url', 'connection.user' and 'connection.password'" in trace
    assert "Traceback" not in trace
    assert "hunter2" not in trace


def test_datagen_makes_its_count_and_goes_on_after_an_altered_offset(
    connectors: ConnectClient, topics: Topics, name: str
) -> None:
    topics.create(name)
    config = {
        "connector.class": "io.confluent.kafka.connect.datagen.DatagenConnector",
        "quickstart": "pageviews",
        "kafka.topic": name,
        "max.interval": "0",
        "iterations": "20000",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    connectors.create(name, config)
    eventually(lambda: len(_values(topics, name)) >= 20000, within=120)
    first = _values(topics, name)
    assert [row["viewtime"] for row in first] == list(range(1, 200_000, 10))
    connectors.stop(name)
    (stored,) = connectors.offsets(name)
    moved = {**stored["offset"], "current.iteration": 19_990}
    connectors.alter_offsets(name, [{**stored, "offset": moved}])
    connectors.resume(name)
    eventually(lambda: len(_values(topics, name)) >= 20_010, within=120)
    assert _values(topics, name)[20_000:] == first[19_990:]
