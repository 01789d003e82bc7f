"""A worker with tables, made-up records and sequence numbers at once, killed in the middle."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from free_ports import free_port
from own_cluster import own_topics
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from tables import Tables
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

KILLS = 2
ROWS = 200_000
MADE = 8_000
JSON: dict[str, str] = {
    f"{side}.converter{key}": value
    for side in ("key", "value")
    for key, value in (
        ("", "org.apache.kafka.connect.json.JsonConverter"),
        (".schemas.enable", "false"),
    )
}
NUMBERED = {
    "type": "record",
    "name": "made",
    "fields": [
        {"name": "n", "type": {"type": "int", "arg.properties": {"iteration": {"start": 0}}}},
    ],
}


def _configs(tables: Tables, topics: dict[str, str], reports: Path) -> dict[str, dict[str, str]]:
    rows = {
        **tables.config(mode="incrementing", table_whitelist="numbers", batch_max_rows="20"),
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "schema.pattern": tables.schema,
        "topic.prefix": topics["rows"].removesuffix("numbers"),
        "poll.interval.ms": "100",
    }
    made = {
        "connector.class": "io.confluent.kafka.connect.datagen.DatagenConnector",
        "kafka.topic": topics["made"],
        "schema.string": json.dumps(NUMBERED),
        "iterations": str(MADE),
        "max.interval": "4",
    }
    counted = {
        "connector.class": "VerifiableSource",
        "topic": topics["counted"],
        "throughput": "500",
        "tasks.max": "2",
        "report.file": str(reports / "sent"),
    }
    given = {
        "connector.class": "VerifiableSink",
        "topics": topics["counted"],
        "report.file": str(reports / "given"),
    }
    return {name: {**JSON, **config} for name, config in
            {"rows": rows, "made": made, "counted": counted, "given": given}.items()}  # fmt: skip


@pytest.mark.heavy
def test_sources_are_exact_and_an_at_least_once_sink_loses_nothing(
    broker: EmbeddedBroker, topics: Topics, tables: Tables, name: str, tmp_path: Path
) -> None:
    names = {"rows": f"{name}-numbers", "made": f"{name}-made", "counted": f"{name}-counted"}
    for topic in names.values():
        topics.create(topic)
    tables.run("CREATE TABLE numbers (id bigserial PRIMARY KEY, n int)")
    tables.run("INSERT INTO numbers (n) SELECT n FROM generate_series(0, %s::int - 1) n", ROWS)
    worker = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
    )
    first: dict[str, int] = {}
    try:
        worker.start(240)
        for each, config in _configs(tables, names, tmp_path).items():
            worker.client.create(f"{name}-{each}", config)
        for kill in range(1, KILLS + 1):
            for topic in names.values():
                bound = kill * MADE // (KILLS + 1)
                eventually(lambda: topics.end(topic) >= bound, within=240, what=topic)  # noqa: B023 (at once)
            worker.kill_tree()
            first = first or {topic: topics.end(topic) for topic in names.values()}
            worker.start(240)
        _let_them_end(worker.client, topics, names, name, tmp_path)
    finally:
        worker.close()
    assert first[names["rows"]] < ROWS, "it was killed too late"
    assert first[names["made"]] < MADE, "it was killed too late"
    assert [row["n"] for row in _values(topics, names["rows"])] == list(range(ROWS))
    assert [row["n"] for row in _values(topics, names["made"])] == list(range(MADE))
    counted = _counted(topics, names["counted"])
    assert all(numbers == list(range(len(numbers))) for numbers in counted.values())
    assert sorted(counted) == [0, 1]
    flushed = [line["offset"] for line in _told(tmp_path / "given", "flushed")]
    offsets = [message.offset() for message in topics.messages(names["counted"])]
    assert set(flushed) == set(offsets), "at least once"


def _let_them_end(
    client: ConnectClient, topics: Topics, names: dict[str, str], name: str, reports: Path
) -> None:
    eventually(lambda: topics.end(names["rows"]) >= ROWS, within=240, what="all rows")
    eventually(lambda: topics.end(names["made"]) >= MADE, within=240, what="all made records")
    client.stop(f"{name}-counted")
    eventually(lambda: len(_values(topics, names["rows"])) >= ROWS, within=60)
    eventually(lambda: len(_values(topics, names["made"])) >= MADE, within=60)
    last = topics.messages(names["counted"])[-1].offset()

    def written() -> bool:
        return any(line["offset"] == last for line in _told(reports / "given", "flushed"))

    eventually(written, within=120, what="the sink to tell of the last number")


def _values(topics: Topics, topic: str) -> list[Any]:
    return [json.loads(message.value() or b"null") for message in topics.messages(topic)]


def _counted(topics: Topics, topic: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for message in topics.messages(topic):
        found[json.loads(message.key() or b"")].append(json.loads(message.value() or b""))
    return found


def _told(report: Path, mark: str) -> list[dict[str, Any]]:
    text = report.read_text() if report.exists() else ""
    whole = (json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))
    return [line for line in whole if line.get(mark)]
