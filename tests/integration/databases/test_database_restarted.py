"""A database that goes away while a source reads it and a sink writes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from penstock.client import ConnectClient
from penstock.embedded.postgres import EmbeddedPostgres
from tables import Tables
from topics import Topics
from waiting import eventually

JSON = "org.apache.kafka.connect.json.JsonConverter"


@pytest.fixture
def own_tables() -> Iterator[Tables]:
    """Tables of a server that this test alone has."""
    with TemporaryDirectory(prefix="penstock-postgres-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "data") as running:
            made = Tables(running, "own")
            yield made
            made.close()


def _reached(count: Callable[[], int], wanted: int) -> bool:
    return count() >= wanted


@pytest.mark.heavy
def test_a_database_that_is_killed_in_the_middle(
    connectors: ConnectClient, topics: Topics, own_tables: Tables, secrets_folder: Path, name: str
) -> None:
    """Rows go out of it and into it again, each once."""
    tables, topic = own_tables, f"{name}-numbers"
    tables.run("CREATE TABLE numbers (id bigserial PRIMARY KEY, n int)")
    tables.run("INSERT INTO numbers (n) SELECT n FROM generate_series(1, 1000) n")
    topics.create(topic)
    place = {
        **tables.config(),
        "connection.password": tables.secret(secrets_folder, name),
        "value.converter": JSON,
    }
    source = {
        **place,
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "mode": "incrementing",
        "table.whitelist": "numbers",
        "schema.pattern": "own",
        "topic.prefix": f"{name}-",
        "poll.interval.ms": "100",
    }
    sink = {
        **place,
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": topic,
        "auto.create": "true",
        "table.name.format": "own.copied",
        "offsets.table": "own.offsets",
    }
    connectors.create(name, source)
    connectors.create(f"{name}-sink", sink)

    def copied() -> int:
        try:
            return int(tables.run("SELECT count(*) FROM copied")[0][0])
        except psycopg.Error:
            return 0

    eventually(lambda: copied() >= 1000, within=120, what="rows")
    for begin in (1001, 2001):
        rows = "INSERT INTO numbers (n) SELECT n FROM generate_series(%s::int, %s::int) n"
        tables.run(rows, begin, begin + 999)
        tables.postgres.kill()
        assert not tables.postgres.alive()
        tables.postgres.start()
        eventually(partial(_reached, copied, begin + 999), within=240, what="all rows")
    assert [n for (n,) in tables.run("SELECT n FROM copied ORDER BY n")] == list(range(1, 3001))
    states = [connectors.status(each) for each in (name, f"{name}-sink")]
    assert {task["state"] for state in states for task in state["tasks"]} == {"RUNNING"}
