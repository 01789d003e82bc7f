"""Rule 8: a crash or a hang is not data; only the culprit fails."""

from __future__ import annotations

import pytest

from penstock.client import ConnectClient
from topics import Topics, numbers_of
from waiting import eventually


def test_a_partition_that_calls_os_exit(
    connectors: ConnectClient, scripted, topics: Topics, name: str
) -> None:
    scripted(
        tasks_max=3, count=60, batch=10, pause_ms=50, mishap="exit", mishap_task=1, mishap_at=30
    )
    _only_task_1_fails(connectors, topics, name, "ended abruptly")


@pytest.mark.heavy
def test_a_task_that_hangs(connectors: ConnectClient, scripted, topics: Topics, name: str) -> None:
    scripted(
        tasks_max=3, count=60, batch=10, pause_ms=50, mishap="hang", mishap_task=1, mishap_at=30
    )
    _only_task_1_fails(connectors, topics, name, "It hangs here")


def _only_task_1_fails(connectors: ConnectClient, topics: Topics, name: str, why: str) -> None:
    def states() -> list[str]:
        return [task["state"] for task in connectors.status(name)["tasks"]]

    eventually(lambda: states() == ["RUNNING", "FAILED", "RUNNING"], within=90, what="the verdict")
    status = connectors.status(name)
    assert status["connector"]["state"] == "RUNNING"
    assert why in status["tasks"][1]["trace"]

    def emitted(task: int) -> list[int]:
        return numbers_of(topics.values(name), task)

    for healthy in (0, 2):
        eventually(lambda: emitted(healthy) == list(range(60)), within=60, what="the healthy")  # noqa: B023 (called at once)
    culprit = emitted(1)
    assert culprit == list(range(len(culprit)))
    assert len(culprit) <= 30


def test_a_task_that_crashes_once_goes_on(
    connectors: ConnectClient, scripted, topics: Topics, name: str, tmp_path
) -> None:
    scripted(count=60, batch=10, mishap="exit", mishap_at=30, mishap_once=tmp_path / "struck")
    eventually(lambda: len(topics.values(name)) == 60, within=60, what="all records")
    assert numbers_of(topics.values(name), 0) == list(range(60))
    assert connectors.status(name)["tasks"][0]["state"] == "RUNNING"


def test_a_task_that_raises_fails_alone_and_tells_no_secret(
    connectors: ConnectClient, scripted, topics: Topics, name: str
) -> None:
    scripted(tasks_max=2, count=20, mishap="raise", mishap_task=1, mishap_at=10, password="hunter2")
    eventually(
        lambda: connectors.status(name)["tasks"][-1:] and _state(connectors, name, 1) == "FAILED"
    )
    trace = connectors.task_status(name, 1)["trace"]
    assert "ValueError: cannot log in with [hidden]" in trace
    assert "hunter2" not in str(connectors.status(name))
    eventually(lambda: numbers_of(topics.values(name), 0) == list(range(20)))


def _state(connectors: ConnectClient, name: str, task: int) -> str:
    return {t["id"]: t["state"] for t in connectors.status(name)["tasks"]}.get(task, "")
