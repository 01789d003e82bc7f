"""A source connector of your own: the rows of an SQLite table.

    .venv/bin/python examples/03-your-own-source.py

The connector is one file, 03-your-own-source/sqlite_source.py, made a plugin by the entry point in
the pyproject.toml beside it. The worker finds it, moves the rows with Spark, and lets its offsets
be altered like any other's.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from penstock.client import ConnectApiError, ConnectClient, wait_for_state
from running_worker import RunningWorker, running_worker
from topic_reading import read_topic, values

NAME, TOPIC = "fish-counter", "fish"


def main() -> None:
    """The story, checked on the way."""
    with running_worker("03-your-own-source") as worker, ConnectClient(worker.url) as client:
        database = worker.folder / "03.db"
        insert(database, ["trout", "eel", "pike", "carp"])

        found = [plugin["class"] for plugin in client.plugins()]
        print(f"plugins: {', '.join(found)}")
        assert "sqlite_source.SqliteSourceConnector" in found

        client.create(NAME, config(database))
        expect(worker, ["trout", "eel", "pike", "carp"])

        print("two rows more: look() sees them, and a turn of Spark fetches just these")
        insert(database, ["perch", "salmon"])
        expect(worker, ["trout", "eel", "pike", "carp", "perch", "salmon"])

        client.stop(NAME)
        wait_for_state(client, NAME, "STOPPED")
        (entry,) = client.offsets(NAME)
        print(f"STOPPED at {entry['offset']}")
        refuse(client, {**entry, "offset": {"id": "the fourth"}})
        client.alter_offsets(NAME, [{**entry, "offset": {"id": 4}}])
        client.resume(NAME)
        expect(worker, ["trout", "eel", "pike", "carp", "perch", "salmon", "perch", "salmon"])


def config(database: Path) -> dict[str, str]:
    """Rows become JSON objects."""
    return {
        "connector.class": "SqliteSource",
        "database": str(database),
        "table": "fish",
        "topic": TOPIC,
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
    }


def insert(database: Path, names: Iterable[str]) -> None:
    """Count some fish."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS fish (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO fish (name) VALUES (?)", [(name,) for name in names])


def expect(worker: RunningWorker, names: list[str]) -> None:
    """The topic holds these fish, no fewer and no more."""
    found = values(read_topic(worker.bootstrap_servers, TOPIC, len(names)))
    print(f"  the topic: {' '.join(found)}")
    assert [json.loads(value)["name"] for value in found] == names


def refuse(client: ConnectClient, entry: dict[str, object]) -> None:
    """The connector checks what it would have to start from."""
    try:
        client.alter_offsets(NAME, [entry])
    except ConnectApiError as refusal:
        print(f"  refused: {refusal}")
    else:
        raise AssertionError("an offset that makes no sense was taken")


if __name__ == "__main__":
    main()
