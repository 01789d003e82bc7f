"""The life of a connector over REST: create, pause, resume, stop, change, delete."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock import __version__
from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from runners import resting
from topics import Topics, numbers_of
from waiting import eventually


def assert_unchanged(probe: Callable[[], Any], seconds: float = 1.0) -> None:
    """Nothing can be waited for where nothing is to happen: look for a while."""
    before, until = probe(), time.monotonic() + seconds
    while time.monotonic() < until:
        assert probe() == before


def test_a_whole_life(
    connectors: ConnectClient, topics: Topics, reach, arrive, refused, name: str, tmp_path: Path
) -> None:
    limit = tmp_path / "limit"
    limit.write_text("10")
    topics.create(name)
    sent = {
        "connector.class": "ScriptedSource",
        "topic": name,
        "tasks.max": 2,
        "limit.file": str(limit),
    }
    config = {**sent, "tasks.max": "2", "name": name}
    parts = [{"connector": name, "task": task} for task in (0, 1)]

    def emits(count: int) -> None:
        arrive(count, count)
        values = topics.values(name)
        assert [numbers_of(values, task) for task in (0, 1)] == [list(range(count))] * 2

    info = connectors.create(name, sent)
    assert info == {"name": name, "config": config, "tasks": [], "type": "source"}
    assert name in connectors.connectors()
    reach("RUNNING", "RUNNING", "RUNNING")
    assert connectors.config(name) == config
    assert connectors.info(name) == {**info, "tasks": parts}
    task_class = "sample_connectors.scripted_source.ScriptedSourceTask"
    assert connectors.tasks(name) == [
        {"id": part, "config": {**config, "task.id": str(part["task"]), "task.class": task_class}}
        for part in parts
    ]
    status = connectors.status(name)
    running = {"state": "RUNNING", "worker_id": "127.0.0.1:8083", "version": "1.0"}
    assert status == {
        "name": name,
        "connector": running,
        "tasks": [{"id": 0, **running}, {"id": 1, **running}],
        "type": "source",
    }
    assert connectors.task_status(name, 1) == {"id": 1, **running}
    assert connectors.expanded("status", "info")[name] == {
        "status": status,
        "info": connectors.info(name),
    }
    emits(10)

    connectors.pause(name)
    reach("PAUSED", "PAUSED", "PAUSED")
    assert connectors.info(name)["tasks"] == parts
    limit.write_text("20")
    assert_unchanged(lambda: topics.end(name, committed=False))
    connectors.pause(name)
    connectors.resume(name)
    reach("RUNNING", "RUNNING", "RUNNING")
    connectors.resume(name)
    emits(20)

    connectors.stop(name)
    stopped = connectors.status(name)
    assert (stopped["connector"]["state"], stopped["tasks"]) == ("STOPPED", [])
    assert (connectors.tasks(name), connectors.info(name)["tasks"]) == ([], [])
    limit.write_text("30")
    connectors.stop(name)
    connectors.restart(name)
    connectors.restart(name, include_tasks=True)
    assert_unchanged(lambda: (topics.end(name, committed=False), connectors.status(name)))
    connectors.pause(name)
    reach("PAUSED")
    connectors.resume(name)
    reach("RUNNING", "RUNNING", "RUNNING")
    emits(30)

    connectors.delete(name)
    assert name not in connectors.connectors()
    assert refused(lambda: connectors.status(name))[0] == 404
    assert connectors.topics(name) == []
    limit.write_text("40")
    connectors.create(name, sent)
    emits(40)


def test_status_codes(http: httpx.Client, connectors: ConnectClient, topics: Topics, name) -> None:
    topics.create(name)
    config = {"connector.class": "ScriptedSource", "topic": name, "count": "1"}
    path = f"/connectors/{name}"
    body = {"name": f"  {name} ", "config": config, "initial_state": "paused"}
    created = http.post("/connectors", json=body)
    assert (created.status_code, created.json()["name"]) == (201, name)
    assert created.headers["location"].endswith(path)
    calls = [
        ("PUT", f"{path}/resume", 202),
        ("PUT", f"{path}/pause", 202),
        ("POST", f"{path}/restart", 204),
        ("POST", f"{path}/restart?includeTasks=false&onlyFailed=false", 204),
        ("POST", f"{path}/restart?onlyFailed=true", 202),
        ("PUT", f"{path}/stop", 204),
        ("PUT", f"{path}/topics/reset", 202),
        ("GET", f"{path}/status", 200),
        ("GET", f"{path}/offsets", 200),
        ("DELETE", f"{path}/offsets", 200),
    ]
    for method, target, code in calls:
        answer = http.request(method, target)
        assert answer.status_code == code, (method, target, answer.text)
        assert bool(answer.content) == (method == "GET" or "true" in target or "offsets" in target)
    assert http.post("/connectors", json={**body, "name": name}).json() == {
        "error_code": 409,
        "message": f"Connector {name} already exists",
    }
    assert http.put(f"{path}/config", json=config).status_code == 200
    assert http.delete(path).status_code == 204
    again = http.put(f"{path}/config", json=config)
    assert (again.status_code, again.headers["location"].endswith(path)) == (201, True)


def test_nobody_by_that_name(client: ConnectClient, refused) -> None:
    """Three ways to say it, as Kafka Connect has them."""
    not_found, unknown = "Connector nobody not found", "Unknown connector nobody"
    with_colon = "Unknown connector: nobody"
    for call, text in (
        (lambda: client.info("nobody"), not_found),
        (lambda: client.config("nobody"), not_found),
        (lambda: client.tasks("nobody"), not_found),
        (lambda: client.patch_config("nobody", {}), not_found),
        (lambda: client.delete("nobody"), not_found),
        (lambda: client.pause("nobody"), unknown),
        (lambda: client.resume("nobody"), unknown),
        (lambda: client.stop("nobody"), unknown),
        (lambda: client.restart("nobody"), with_colon),
        (lambda: client.restart("nobody", include_tasks=True), with_colon),
        (lambda: client.restart_task("nobody", 0), with_colon),
        (lambda: client.status("nobody"), "No status found for connector nobody"),
        (lambda: client.task_status("nobody", 3), "No status found for task nobody-3"),
    ):
        assert refused(call) == (404, text)
    assert client.topics("nobody") == []
    client.reset_topics("nobody")


def test_the_worker_itself(client: ConnectClient, topics: Topics) -> None:
    root = client.root()
    assert (root["version"], root["penstock_version"]) == ("4.3.1", __version__)
    assert re.fullmatch(r"[0-9a-f]{16}", root["commit"])
    assert root["kafka_cluster_id"] == topics.admin.list_topics(timeout=20).cluster_id
    # Once Spark has started, its application is named, too.
    own = {"version", "commit", "penstock_version", "kafka_cluster_id"}
    assert own <= set(root) <= {*own, "spark_application_id"}
    assert client.health() == {
        "status": "healthy",
        "message": "Worker has completed startup and is ready to handle requests.",
    }


def test_a_new_config_takes_effect_while_it_runs(
    connectors: ConnectClient,
    scripted,
    topics: Topics,
    worker: Worker,
    reach,
    arrive,
    name: str,
    tmp_path: Path,
) -> None:
    """It goes on where it was, in another topic, and the topics endpoint knows both."""
    limit = tmp_path / "limit"
    limit.write_text("10")
    scripted(limit_file=limit)
    arrive(10)
    second = f"{name}-second"
    topics.create(second)
    config = {**connectors.config(name), "topic": second, "tasks.max": "2"}
    info = connectors.put_config(name, config)
    assert info["config"] == config
    reach("RUNNING", "RUNNING", "RUNNING")
    limit.write_text("20")
    arrive(20, 20)
    assert numbers_of(topics.values(second), 1) == list(range(20))
    assert numbers_of(topics.values(second), 0) == list(range(10, 20))
    assert len(topics.values(name)) == 10
    eventually(lambda: connectors.topics(name) == sorted([name, second]), what="both topics")
    # The report of a lease that still runs would bring them back.
    eventually(lambda: resting(worker, name), what="the end of the last lease")
    connectors.reset_topics(name)
    assert connectors.topics(name) == []

    connectors.patch_config(name, {"tasks.max": 1, "batch": "3", "limit.file": None})
    kept = {k: v for k, v in config.items() if k != "limit.file"}
    assert connectors.config(name) == {**kept, "tasks.max": "1", "batch": "3"}
    reach("RUNNING", "RUNNING")
    arrive(100)
    assert numbers_of(topics.values(name) + topics.values(second), 0) == list(range(100))


@pytest.mark.parametrize("state", ["STOPPED", "PAUSED"])
def test_initial_states(
    connectors: ConnectClient, scripted, topics: Topics, states, arrive, name: str, state: str
) -> None:
    """Nothing runs; a new config changes nothing about that."""
    scripted(state, count=10)
    assert states() == (state, [])
    connectors.put_config(name, {**connectors.config(name), "count": "20"})
    assert states() == (state, [])
    assert (connectors.tasks(name), topics.end(name, committed=False)) == ([], 0)
    if state == "STOPPED":
        connectors.alter_offsets(name, [{"partition": {"task": 0}, "offset": {"next": 15}}])
    connectors.resume(name)
    arrive(20)
    assert states() == ("RUNNING", ["RUNNING"])
    first = 15 if state == "STOPPED" else 0
    assert numbers_of(topics.values(name), 0) == list(range(first, 20))


def test_a_connector_that_does_not_start(
    connectors: ConnectClient,
    scripted,
    worker: Worker,
    topics: Topics,
    states,
    reach,
    arrive,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No tasks, and no way out but a restart or a stop; what ran before runs no more."""
    plugin = worker.plugins.connector("ScriptedSource").cls

    def broken(self: object, config: dict[str, str]) -> None:
        raise RuntimeError("no way to start with hunter2")

    with monkeypatch.context() as patch:
        patch.setattr(plugin, "start", broken)
        scripted(count=10, password="hunter2")
        reach("FAILED")
        trace = connectors.status(name)["connector"]["trace"]
        assert "RuntimeError: no way to start with [hidden]" in trace
        assert connectors.tasks(name) == []
        connectors.resume(name)
        connectors.pause(name)
        assert states() == ("FAILED", [])
        connectors.stop(name)
        assert states() == ("STOPPED", [])
        connectors.resume(name)
        reach("FAILED")
    shown = connectors.restart(name, only_failed=True)
    assert shown is not None
    assert shown["connector"]["state"] == "RESTARTING"
    assert "trace" not in shown["connector"]
    arrive(10)

    with monkeypatch.context() as patch:
        patch.setattr(plugin, "start", broken)
        connectors.patch_config(name, {"count": 20})
        reach("FAILED", "UNASSIGNED")
    connectors.restart(name)
    arrive(20)
    assert states() == ("RUNNING", ["RUNNING"])
    assert numbers_of(topics.values(name), 0) == list(range(20))


def test_more_tasks_than_allowed(
    connectors: ConnectClient, scripted, worker: Worker, reach, name: str, monkeypatch
) -> None:
    plugin = worker.plugins.connector("ScriptedSource").cls
    generous = lambda self, most: [dict(self.config)] * (most + 2)  # noqa: E731 (one expression)
    monkeypatch.setattr(plugin, "task_configs", generous)
    scripted(tasks_max=2)
    reach("FAILED")
    assert (
        f"The connector {name} has generated 4 tasks, which is greater than 2, the maximum number "
        "of tasks it is configured to create."
    ) in connectors.status(name)["connector"]["trace"]
