"""The configurations of the how-to, run one after the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from documented import documented
from penstock.client import ConnectClient
from tables import Tables
from topics import Topics
from waiting import eventually

PAGE = "docs/databases.md"


@pytest.mark.heavy
def test_a_table_to_a_topic_to_a_table(
    connectors: ConnectClient, topics: Topics, tables: Tables, secrets_folder: Path, name: str
) -> None:
    tables.run(
        "CREATE TABLE orders (id serial PRIMARY KEY, note text, changed_at timestamptz NOT NULL "
        "DEFAULT clock_timestamp())"
    )
    tables.run("INSERT INTO orders (note) SELECT 'n' || n FROM generate_series(1, 100) n")
    place = tables.config()
    place["connection.password"] = tables.secret(secrets_folder, name)
    topic = f"{name}-orders"
    topics.create(topic)
    source = documented(PAGE, "shop-orders")
    source |= {**place, "topic.prefix": f"{name}-", "schema.pattern": tables.schema}
    sink = documented(PAGE, "orders-to-warehouse")
    sink |= {
        **place,
        "topics": topic,
        "table.name.format": f"{tables.schema}.warehouse",
        "offsets.table": f"{tables.schema}.offsets",
        "errors.deadletterqueue.topic.name": f"{name}-dead",
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    connectors.create(name, source)
    connectors.create(f"{name}-sink", sink)

    def landed() -> list[tuple[object, ...]]:
        if not tables.run("SELECT to_regclass('warehouse') IS NOT NULL")[0][0]:
            return []
        return tables.run("SELECT id, note FROM warehouse ORDER BY id")

    eventually(lambda: len(landed()) >= 100, within=120, what="rows")
    tables.run("UPDATE orders SET note = 'changed', changed_at = clock_timestamp() WHERE id = 7")
    eventually(lambda: (7, "changed") in landed(), within=120, what="the change")
    assert landed() == tables.run("SELECT id, note FROM orders ORDER BY id")


@pytest.mark.heavy
def test_made_up_records(connectors: ConnectClient, topics: Topics, name: str) -> None:
    topics.create(name)
    more = {"kafka.topic": name, "max.interval": "1"}
    connectors.create(name, {**documented(PAGE, "pageviews"), **more})
    eventually(lambda: len(topics.values(name)) >= 100, within=120)
    assert "viewtime" in json.loads(topics.values(name)[0])
