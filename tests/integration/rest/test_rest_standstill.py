"""What keeps a task from making progress is seen in its status, until it goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from penstock.kafka.clients import Connection
from penstock.kafka.transactions import fence
from penstock.runtime.worker import Worker
from topics import Topics, numbers_of
from waiting import eventually


@pytest.fixture
def rival(broker: EmbeddedBroker, worker: Worker, name: str) -> Iterator[threading.Event]:
    """Somebody who takes the transactional id of task 0 again and again, until this is set."""
    healed = threading.Event()
    connection = Connection(broker.bootstrap_servers)

    def run() -> None:
        while not healed.wait(0.05):
            fence(connection, [f"{worker.config.group_id}-{name}-0"])

    thread = threading.Thread(target=run)
    thread.start()
    yield healed
    healed.set()
    thread.join()


def test_a_task_that_is_fenced_again_and_again(
    connectors: ConnectClient,
    scripted,
    rival: threading.Event,
    topics: Topics,
    http: httpx.Client,
    name: str,
    tmp_path: Path,
) -> None:
    limit = tmp_path / "limit"
    limit.write_text("1000000")
    scripted(limit_file=limit, batch=5, pause_ms=100)

    def task() -> dict[str, Any]:
        status = connectors.status(name)
        assert [part["state"] for part in status["tasks"]] in ([], ["RUNNING"])
        return dict(next(iter(status["tasks"]), {}))

    trace = eventually(
        lambda: str(task().get("trace", "")), within=90, what="a word of it in the status"
    )
    assert "leases of this task were lost, the last one: fenced" in trace
    assert "group.id" in trace, "nothing says what to do"
    lost = connectors.metrics(name)["tasks"][0]["lost_leases"]
    assert lost["reasons"]["fenced"] >= 3
    assert lost["in_a_row"] >= 3
    sample = f'penstock_task_lost_leases_total{{connector="{name}",task="0",reason="fenced"}}'
    assert sample in http.get("/metrics").text

    rival.set()
    before = len(topics.values(name))
    eventually(lambda: len(topics.values(name)) > before + 10, what="records")
    eventually(lambda: "trace" not in task(), what="a status without it, while the lease runs")
    assert connectors.metrics(name)["tasks"][0]["lost_leases"]["in_a_row"] == 0
    limit.write_text("0")
    numbers = numbers_of(topics.values(name), 0)
    assert numbers == list(range(len(numbers)))


def test_a_task_that_waits_for_something_says_for_what(
    connectors: ConnectClient, scripted, topics: Topics, name: str, tmp_path: Path
) -> None:
    awaited = tmp_path / "awaited"
    scripted(awaits_file=awaited, count=5, password="hunter2-hunter2")

    def trace() -> str:
        (task,) = connectors.status(name)["tasks"]
        assert task["state"] == "RUNNING"
        return str(task.get("trace", ""))

    eventually(lambda: connectors.status(name)["tasks"], what="a task")
    told = eventually(trace, within=90, what="a word of it in the status")
    assert "Waiting since" in told
    assert f"{awaited} is not there" in told
    assert "hunter2" not in told

    awaited.touch()
    eventually(lambda: len(topics.values(name)) == 5, what="records")
    eventually(lambda: not trace(), what="a status without it")
