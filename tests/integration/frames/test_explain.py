"""`penstock explain connector`, for each kind of connector that Spark runs, and for one of none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Commands, Outcome
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from topics import Topics
from waiting import eventually

Explain = Callable[[str], Outcome]
SQL = {
    "transforms": "sql",
    "transforms.sql.type": "SparkSql",
    "transforms.sql.expression": "upper(value) AS value",
}


@pytest.fixture
def explain(
    connectors: ConnectClient,
    broker: EmbeddedBroker,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Explain:
    run = Commands(broker.bootstrap_servers, monkeypatch, capsysbinary)
    return lambda name: run("explain", "connector", name, "--url", connectors.url)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["sink into files", "source of files", "transform in SQL"])
def test_the_plan_of_the_turns(
    explain: Explain,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    tmp_path: Path,
    kind: str,
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    topics.create(name)
    into = {"connector.class": "SparkSink", "topics": name, "path": str(tmp_path / "out")}
    of = {"connector.class": "SparkSource", "format": "json", "path": str(folder), "topic": name}
    lines = {"connector.class": "FileStreamSource", "file": str(folder / "a"), "topic": name}
    configs = {
        "sink into files": {**into, "select": "upper(value) AS value"},
        "source of files": {**of, "select": "upper(word) AS value", "value.column": "value"},
        "transform in SQL": {**lines, **SQL},
    }
    connectors.create(name, {**configs[kind], "tasks.max": "1"})
    before = explain(name)
    assert before.code == 1
    assert f"{name} has no plan yet" in before.err
    if kind == "sink into files":
        topics.produce(name, [b"one"])
    (folder / "a").write_text(json.dumps({"word": "one"}) + "\n")
    found = eventually(lambda: (o := explain(name)).code == 0 and o, within=120, what="a plan")
    assert found
    assert "== Physical Plan ==" in found.out
    assert "upper(" in found.out


def test_a_connector_without_one(explain: Explain, connectors: ConnectClient, name: str) -> None:
    config = {"connector.class": "DatagenSource", "quickstart": "users", "kafka.topic": name}
    connectors.create(name, {**config, "iterations": "1"})
    told = explain(name)
    assert told.code == 1
    assert "has no plan of Spark's" in told.err
    assert "no plan" not in told.out
