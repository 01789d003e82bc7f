"""Clients of Kafka Connect by others, as witnesses: each takes a connector through its life."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests
from kafka_connect import KafkaConnect
from kafka_connect_api.errors import GenericNotFound
from kafka_connect_api.kafka_connect_api import Api, Cluster
from kafka_connect_healthcheck.health import Health

from penstock.client import ConnectClient
from topics import Topics
from waiting import eventually


@pytest.fixture
def config(
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, str]:
    """Of a file source with three lines; the clients would ask a proxy of this machine."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    topics.create(name)
    file = tmp_path / "lines.txt"
    file.write_text("one\ntwo\nthree\n")
    return {"connector.class": "FileStreamSource", "file": str(file), "topic": name}


def test_kafka_connect_py(
    connectors: ConnectClient, topics: Topics, config: dict[str, str], name: str
) -> None:
    connect = KafkaConnect(connectors.url)
    assert connect.get_cluster_info()["version"].count(".") == 2
    named = {**config, "name": name}
    assert connect.validate_connector_config("FileStreamSource", named)["error_count"] == 0
    assert connect.create_connector({"name": name, "config": config})["name"] == name
    connect.restart_connector_task(name, 0)
    eventually(lambda: topics.values(name) == ["one", "two", "three"])
    assert name in connect.list_connectors(pattern=name, state="RUNNING")
    assert connect.get_connector_status(name)["tasks"][0]["state"] == "RUNNING"
    eventually(lambda: connect.list_connector_topics(name)[name]["topics"] == [name])

    def state() -> str:
        return str(connect.get_connector_status(name)["connector"]["state"])

    connect.pause_connector(name)
    eventually(lambda: state() == "PAUSED")
    connect.resume_connector(name)
    eventually(lambda: state() == "RUNNING")
    changed = connect.update_connector(name, {**config, "batch.size": "7"})
    assert changed["config"]["batch.size"] == "7"
    connect.restart_connector(name, include_tasks=True, only_failed=False)
    connect.stop_connector(name)
    eventually(lambda: (state(), connect.list_connector_tasks(name)) == ("STOPPED", []))
    connect.delete_connector(name)
    assert name not in connect.list_connectors()
    with pytest.raises(requests.HTTPError, match="404"):
        connect.get_connector(name)


def test_kafka_connect_api(
    connectors: ConnectClient, topics: Topics, config: dict[str, str], name: str
) -> None:
    cluster = Cluster(Api(url=connectors.url))
    assert cluster.version.count(".") == 2
    cluster.api.put_raw(f"/connectors/{name}/config", json=config)
    connector = cluster.connectors[name]
    assert connector.exists()
    assert connector.connector_class == "FileStreamSource"
    eventually(lambda: topics.values(name) == ["one", "two", "three"])
    (task,) = connector.tasks
    assert task.is_running()
    task.restart()
    eventually(task.is_running)
    connector.cycle_connector()
    eventually(lambda: connector.state == "RUNNING")
    connector.config = {**config, "batch.size": "7"}
    assert connector.config["batch.size"] == "7"
    assert "root" in cluster.loggers
    connector.delete()
    assert name not in cluster.connectors
    with pytest.raises(GenericNotFound, match="not found"):
        connector.exists()


def test_kafka_connect_healthcheck(
    connectors: ConnectClient, config: dict[str, str], name: str
) -> None:
    health = Health(connectors.url, None, ["FAILED"], None, 0, ["connector", "task"])

    def failures() -> list[str]:
        found = health.get_health_result()["failures"]
        return [each["type"] for each in found if each["connector"] == name]

    connectors.create(name, config)
    assert failures() == []
    folder = str(Path(config["file"]).parent)
    connectors.put_config(name, {**config, "file": folder})
    eventually(lambda: failures() == ["task"])
    connectors.put_config(name, config)
    eventually(lambda: failures() == [])
