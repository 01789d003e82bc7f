"""Numbers of real connectors: what they have moved, how far they are, what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from clocks import Clock
from penstock.client import ConnectClient
from penstock.runtime.running.auto_restart import AutoRestarter
from penstock.runtime.worker import Worker
from topics import Topics
from waiting import eventually

Page = Callable[[], dict[str, float]]
PREFIX, WORDS = "kafka_connect_", ("attempts", "success", "failure")


@pytest.fixture
def page(http: httpx.Client, name: str) -> Page:
    """The samples of this test's connector, by what follows ``connector="<name>"``."""

    def read() -> dict[str, float]:
        mine = f'{{connector="{name}"'
        lines = [line.rpartition(" ") for line in http.get("/metrics").text.splitlines()]
        return {
            key.replace(mine + ",", "{").replace(mine, "{"): float(value)
            for key, _, value in lines
            if mine in key
        }

    return read


def test_a_source(connectors: ConnectClient, scripted, page: Page, name: str, tmp_path) -> None:
    limit = tmp_path / "limit"
    limit.write_text("40")
    scripted(tasks_max=2, limit_file=limit, batch=10)
    eventually(lambda: connectors.metrics(name)["records_total"] == 80, what="80 records")
    shown = connectors.metrics(name)
    assert (shown["type"], shown["state"]) == ("source", "RUNNING")
    assert [task["records_total"] for task in shown["tasks"]] == [40, 40]
    assert 0 < shown["records_per_second"] <= 80
    assert shown["bytes_total"] > 80
    task = shown["tasks"][0]
    assert task["batch"]["largest_size"] == 10
    assert task["batch"]["average_size"] == 10
    assert 0 < task["commit"]["average_ms"] <= task["commit"]["longest_ms"] < 20_000
    assert task["errors"]["bad_records"] == task["errors"]["failures"] == 0
    assert shown["turns"] >= 1
    assert shown["looks"] >= 1

    def position() -> list[int]:
        found = connectors.metrics(name)["position"]
        assert found["partition_count"] == len(found["partitions"])
        return sorted(entry["offset"]["next"] for entry in found["partitions"])

    eventually(lambda: position() == [40, 40], what="the positions")
    found = page()
    poll = 'kafka_connect_source_task_source_record_poll_total{task="1"}'
    assert found[poll] == found[poll.replace("poll_total", "write_total")] == 40
    assert found['kafka_connect_connector_status{status="running"}'] == 1
    assert found["kafka_connect_worker_connector_running_task_count{}"] == 2
    assert found['penstock_task_bytes_total{task="0"}'] > 40

    limit.write_text("50")
    eventually(lambda: connectors.metrics(name)["records_total"] == 100, what="100 records")
    connectors.restart(name)
    eventually(lambda: connectors.metrics(name)["restarts"] == 1, what="the restart")


def test_the_worker_and_its_group(
    connectors: ConnectClient,
    http: httpx.Client,
    scripted,
    page: Page,
    reach,
    arrive,
    worker: Worker,
) -> None:
    def counted(what: str) -> list[float]:
        return [worker_page(f"worker_{what}_startup_{word}_total") for word in WORDS]

    def worker_page(name: str) -> float:
        lines = http.get("/metrics").text.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{PREFIX}{name} "))

    before = counted("connector"), counted("task")
    scripted(count=5)
    reach("RUNNING", "RUNNING")
    arrive(5)
    eventually(
        lambda: (
            (counted("connector"), counted("task")) == tuple(plus(b, [1, 1, 0]) for b in before)
        ),
        what="a connector and a task that were started",
    )
    assert page()['kafka_connect_connector_task_running_ratio{task="0"}'] == 1
    assert page()['kafka_connect_connector_task_pause_ratio{task="0"}'] == 0
    assert worker_page("worker_rebalance_completed_rebalances_total") >= 1
    times = [worker_page(f"worker_rebalance_rebalance_{word}_time_ms") for word in ("avg", "max")]
    assert 0 < times[0] <= times[1]
    assert worker_page("worker_rebalance_time_since_last_rebalance_ms") > 0
    assert worker_page("worker_rebalance_epoch") == worker.herder._context.generation()
    leader = f'{PREFIX}worker_rebalance_leader_name{{leader_name="{worker.url}"}} 1'
    assert leader in http.get("/metrics").text


def plus(numbers: list[float], more: list[int]) -> list[float]:
    return [number + each for number, each in zip(numbers, more, strict=True)]


def test_a_long_lease_is_seen_while_it_runs(connectors: ConnectClient, scripted, name: str) -> None:
    """The numbers come with heartbeats, not only with the report at the end."""
    scripted(count=240, batch=10, pause_ms=300)

    def task() -> Any:
        tasks = connectors.metrics(name)["tasks"]
        return tasks[0] if tasks and tasks[0]["records_total"] else None

    first = eventually(task, what="the first records")
    assert first["leases"] == {}
    assert 0 < first["records_total"] < 240
    eventually(lambda: connectors.metrics(name)["records_total"] == 240, what="all records")


def test_the_lag_of_a_sink_also_while_it_is_stopped(
    connectors: ConnectClient, topics: Topics, page: Page, name: str, tmp_path: Path
) -> None:
    topics.create(name, 2)
    topics.produce(name, [b"1", b"2", b"3"], partition=1)
    config = {
        "connector.class": "CollectingSink",
        "topics": name,
        "out": str(tmp_path),
        "tasks.max": "2",
    }
    connectors.create(name, config, "STOPPED")

    def lag() -> Any:
        found = connectors.metrics(name)["lag"]
        return found and {each["partition"]: each["lag"] for each in found["partitions"]}

    behind = topics.end(name, 1)  # three records, and the marker of their transaction
    eventually(lambda: lag() == {0: 0, 1: behind}, what="the lag before the first record")
    assert {each["offset"] for each in connectors.metrics(name)["lag"]["partitions"]} == {None}
    connectors.resume(name)
    eventually(lambda: lag() == {0: 0, 1: 0}, what="no lag")
    found = connectors.metrics(name)
    assert found["lag"]["partitions"][1]["offset"] == found["lag"]["partitions"][1]["end"] >= 3
    eventually(lambda: connectors.metrics(name)["records_total"] == 3, what="the next beat")
    samples = page()
    lags = [samples[f'kafka_connect_sink_task_sink_record_lag_max{{task="{t}"}}'] for t in (0, 1)]
    counts = [samples[f'kafka_connect_sink_task_partition_count{{task="{t}"}}'] for t in (0, 1)]
    sent = [
        samples[f'kafka_connect_sink_task_sink_record_send_total{{task="{t}"}}'] for t in (0, 1)
    ]
    assert (lags, counts, sum(sent)) == ([0, 0], [1, 1], 3)

    connectors.stop(name)
    topics.produce(name, [b"4", b"5"], partition=0)
    behind = topics.end(name, 0)
    eventually(lambda: lag() == {0: behind, 1: 0}, what="the lag of a stopped sink")
    assert connectors.metrics(name)["lag"]["total"] == behind
    assert page()[f'penstock_sink_lag{{topic="{name}",partition="0"}}'] == behind
    listed = connectors.expanded("metrics", "status")[name]
    assert listed["metrics"]["lag"]["max"] == behind
    assert listed["status"]["connector"]["state"] == "STOPPED"


def test_bad_records_are_counted(
    connectors: ConnectClient, topics: Topics, page: Page, name: str, tmp_path: Path
) -> None:
    topics.create(name)
    topics.create(f"{name}-dead")
    topics.produce(name, [b"1", b"{nonsense", b"3"])
    config = {
        "connector.class": "CollectingSink",
        "topics": name,
        "out": str(tmp_path),
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{name}-dead",
    }
    connectors.create(name, config)

    def errors() -> Any:
        tasks = connectors.metrics(name)["tasks"]
        return tasks and tasks[0]["errors"]

    eventually(lambda: errors() and errors()["dead_letters"] == 1, what="the dead letter")
    assert (errors()["bad_records"], errors()["skipped"]) == (1, 1)
    assert errors()["last_error_timestamp"] > 1e12
    assert page()['kafka_connect_task_error_total_records_skipped{task="0"}'] == 1


def test_unknown(refused, client: ConnectClient, name: str) -> None:
    assert refused(lambda: client.metrics(name)) == (404, f"Connector {name} not found")


@pytest.fixture
def restarter(worker: Worker) -> tuple[AutoRestarter, Clock]:
    """The automatic restart of this run's worker, which does not have it, by another clock."""
    clock = Clock()
    return AutoRestarter(worker.herder._context, worker.herder.do_as_told, clock), clock


def test_an_automatic_restart_of_a_task_that_then_works(
    connectors: ConnectClient,
    scripted,
    reach,
    arrive,
    page: Page,
    restarter: tuple[AutoRestarter, Clock],
    name: str,
    tmp_path: Path,
) -> None:
    scripted(count=30, mishap="raise", mishap_at=10, mishap_once=tmp_path / "struck")
    reach("RUNNING", "FAILED")
    restart, clock = restarter
    restart.check()
    reach("RUNNING", "RUNNING")
    arrive(30)
    assert connectors.metrics(name)["auto_restart"]["count"] == 1
    assert connectors.metrics(name)["auto_restart"]["last_restart_timestamp"] > 1e12
    assert page()["penstock_connector_auto_restart_count{}"] == 1
    clock.now += 2 * 60 + 1
    restart.check()
    assert connectors.metrics(name)["auto_restart"]["count"] == 0
    assert connectors.metrics(name)["restarts"] == 1
