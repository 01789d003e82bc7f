"""KLIP-7's statements as they are written there, on a real database, search server and worker."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from bench.search_server import SearchServer
from penstock.client import ConnectClient, raise_if_failed
from tables import Tables
from topics import Topics
from typing_sql import Typing
from waiting import eventually

pytestmark = pytest.mark.heavy
STRING = "org.apache.kafka.connect.storage.StringConverter"


def cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]


@pytest.fixture
def database(tables: Tables) -> Tables:
    """The tables of the text's example."""
    tables.run('CREATE TABLE "user-table" (id text PRIMARY KEY, "user" text, age integer)')
    tables.run('CREATE TABLE "page-table" (id text PRIMARY KEY, page text, url text)')
    tables.run("INSERT INTO \"user-table\" VALUES ('u1', 'Ann', 33), ('u2', 'Bob', 44)")
    tables.run("INSERT INTO \"page-table\" VALUES ('p1', 'home', 'http://x')")
    return tables


def test_ingress(
    typed: Typing,
    topics: Topics,
    connectors: ConnectClient,
    database: Tables,
    secrets_folder: Path,
    name: str,
) -> None:
    told = database.config()
    for table in ("user-table", "page-table"):
        topics.create(f"{name}-{table}")
    made = typed(
        f"""CREATE EXTERNAL SOURCE {name} WITH ( \\
      connector.class="io.confluent.connect.jdbc.jdbcSourceConnector", \\
      tasks.max=1, \\
      connection.url={told["connection.url"]}, \\
      connection.user={told["connection.user"]}, \\
      connection.password={database.secret(secrets_folder, name)}, \\
      mode=bulk, poll.interval.ms=3600000, schema.pattern={database.schema}, \\
      key=id, key.converter={STRING}, \\
      value.converter=org.apache.kafka.connect.json.JsonConverter, \\
      topic.prefix={name}-);"""
    )
    assert made == "\n--------------\nSOURCE CREATED\n--------------\n"
    class_name = "io.confluent.connect.jdbc.JdbcSourceConnector"
    assert [name, class_name, f"{name}-"] in cells(typed("SHOW EXTERNAL SOURCES;"))

    def described() -> list[list[str]]:
        raise_if_failed(connectors, name)
        return cells(typed(f"DESCRIBE {name};"))

    users = ["user-table", f"{name}-user-table", "id VARCHAR, user VARCHAR, age INTEGER"]
    pages = ["page-table", f"{name}-page-table", "id VARCHAR, page VARCHAR, url VARCHAR"]
    eventually(lambda: users in described() and pages in described(), within=120, what="schemas")
    lines = described()
    assert lines[1:4] == [
        [f"name: {name}"],
        [f"connector: {class_name}"],
        [f"topic-prefix: {name}-"],
    ]
    assert ["worker id", "task", "status"] in lines
    assert ["name", "topic", "schema"] in lines
    assert any(line[1:] == ["0", "RUNNING"] for line in lines)
    made = typed(f"CREATE TABLE users_original WITH (kafka_topic = '{name}-user-table');")
    assert "\n--------------\nTABLE CREATED\n--------------\n" in made
    assert typed.rows("SELECT * FROM users_original ORDER BY id;") == [
        ("u1", "Ann", 33),
        ("u2", "Bob", 44),
    ]
    dropped = typed(f"DROP EXTERNAL SOURCE {name} TERMINATE;")
    assert dropped == "\n--------------\nSOURCE DROPPED\n--------------\n"
    assert name not in connectors.connectors()
    assert len(typed.rows("SELECT * FROM users_original;")) == 2, "the table stays"


def test_egress(typed: Typing, connectors: ConnectClient, search: SearchServer, name: str) -> None:
    typed(
        f"CREATE TABLE `my-table1` (id VARCHAR PRIMARY KEY, n INT) WITH (KAFKA_TOPIC='{name}', "
        "PARTITIONS=1); INSERT INTO `my-table1` VALUES ('a', 1), ('b', 2);"
    )
    class_name = "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector"
    made = typed(
        f"CREATE EXTERNAL SINK {name}-sink FROM my-table1 WITH (connector.class={class_name}, "
        f"connection.url={search.url}, schema.ignore=true);"
    )
    assert made == "\n--------------\nSINK CREATED\n--------------\n"
    assert [f"{name}-sink", class_name, name] in cells(typed("SHOW EXTERNAL SINKS;"))

    def found() -> bool:
        raise_if_failed(connectors, f"{name}-sink")
        answer = httpx.get(f"{search.url}/{name}/_doc/b", trust_env=False)
        return answer.status_code == 200 and answer.json()["_source"] == {"N": 2}

    eventually(found, within=120, what="a document")
    eventually(
        lambda: [name, name] in cells(typed(f"DESCRIBE {name}-sink;")), what="the sink's topic"
    )
    lines = cells(typed(f"DESCRIBE {name}-sink;"))
    assert [f"connector: {class_name}"] in lines
    assert ["name", "topic"] in lines, "sinks have no schemas"
    dropped = typed(f"DROP EXTERNAL SINK {name}-sink TERMINATE;")
    assert dropped == "\n--------------\nSINK DROPPED\n--------------\n"
