"""More tasks than slots: they share carriers, and what happens to one carrier or task."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from free_ports import free_port
from own_cluster import own_topics
from topics import Topics, numbers_of
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
NAME = "shared-carriers"
TRICKLE = {"connector.class": "ScriptedSource", "batch": "1", "pause.ms": "500"}
FOREVER = "1000000"


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory, topics: Topics) -> Iterator[WorkerProcess]:
    """A worker with two slots."""
    worker = WorkerProcess(
        tmp_path_factory.mktemp(NAME),
        port=free_port(),
        bootstrap_servers=topics.bootstrap_servers,
        properties={
            **own_topics(NAME),
            "spark.master": "local[2]",
            "spark.driver.memory": "512m",
            "turn.grace.ms": "3000",
            "carrier.memory.max.bytes": str(2 << 30),
        },
    )
    worker.start()
    yield worker
    worker.stop()


@pytest.fixture
def names(crowd: WorkerProcess, name: str) -> Iterator[list[str]]:
    """Connectors of the test, deleted afterwards."""
    made: list[str] = []
    yield made
    for each in made:
        crowd.client.delete(each)


def start(crowd: WorkerProcess, names: list[str], name: str, tasks: int, **more: str) -> None:
    config = {**TRICKLE, "topic": name, "tasks.max": str(tasks), "count": FOREVER, **more}
    crowd.client.create(name, config)
    names.append(name)


def moving(topics: Topics, name: str) -> set[int]:
    """The tasks of which something has arrived."""
    return {int(value.partition(":")[0]) for value in topics.values(name)}


def all_move(topics: Topics, name: str, tasks: int) -> bool:
    return moving(topics, name) == set(range(tasks))


def processes(topics: Topics, name: str) -> Counter[int]:
    """In which processes the connector's tasks have run, by records."""
    return Counter(int(message.key() or b"0") for message in topics.messages(name))


def assert_exact(topics: Topics, name: str, tasks: int) -> None:
    values = topics.values(name)
    for task in range(tasks):
        numbers = numbers_of(values, task)
        assert numbers == list(range(len(numbers))), (name, task)


def test_sixteen_tasks_on_two_slots_all_move(
    crowd: WorkerProcess, topics: Topics, names: list[str], name: str
) -> None:
    topics.create(name)
    start(crowd, names, name, 16)
    eventually(partial(all_move, topics, name, 16), every=0.5, what="all tasks")


def test_forty_connectors_of_four_tasks_all_move(
    crowd: WorkerProcess, topics: Topics, names: list[str], name: str
) -> None:
    for number in range(40):
        topics.create(f"{name}-{number}")
        start(crowd, names, f"{name}-{number}", 4)
    for each in names:
        eventually(partial(all_move, topics, each, 4), every=0.5, what=f"all tasks of {each}")


def test_a_carrier_killed_under_fifty_leases(
    crowd: WorkerProcess, topics: Topics, names: list[str], name: str
) -> None:
    topics.create(name)
    start(crowd, names, name, 50)
    eventually(partial(all_move, topics, name, 50), every=0.5, what="all tasks")
    (victim, _), *_ = processes(topics, name).most_common()
    os.kill(victim, signal.SIGKILL)
    before = Counter(int(value.partition(":")[0]) for value in topics.values(name))

    def all_went_on() -> bool:
        now = Counter(int(value.partition(":")[0]) for value in topics.values(name))
        return all(now[task] > before[task] + 3 for task in range(50))

    eventually(all_went_on, every=0.5, what="all tasks going on")
    assert set(processes(topics, name)) > {victim}
    crowd.client.stop(name)
    assert_exact(topics, name, 50)


@pytest.mark.parametrize(
    ("mishap", "verdict"),
    [
        ("exit", "ended abruptly"),
        ("hang", "did not return"),
        ("eat", "it used more than 2048 MB of memory"),
    ],
)
def test_only_the_culprit_fails(
    crowd: WorkerProcess, topics: Topics, names: list[str], name: str, mishap: str, verdict: str
) -> None:
    """The others are moved out of the carrier that it brings down."""
    others, culprit = f"{name}-others", f"{name}-culprit"
    topics.create(others)
    topics.create(culprit)
    start(crowd, names, others, 10)
    eventually(partial(all_move, topics, others, 10), every=0.5, what="the others")
    start(crowd, names, culprit, 1, **{"mishap": mishap, "mishap.at": "3", "mishap.task": "0"})
    eventually(
        lambda: crowd.client.status(culprit)["tasks"][0]["state"] == "FAILED",
        within=180,
        every=0.5,
        what="the culprit to be FAILED",
    )
    assert verdict in crowd.client.status(culprit)["tasks"][0]["trace"]
    reached = topics.end(others)
    eventually(lambda: topics.end(others) > reached + 100, every=0.5, what="the others going on")
    states = [task["state"] for task in crowd.client.status(others)["tasks"]]
    assert states == ["RUNNING"] * 10
    crowd.client.stop(others)
    assert_exact(topics, others, 10)


def test_a_partition_that_is_added_is_read_by_a_sink_that_is_busy(
    crowd: WorkerProcess, topics: Topics, names: list[str], name: str, tmp_path: Path
) -> None:
    topics.create(name)
    start(crowd, names, f"{name}-source", 1, topic=name)
    out = tmp_path / "out.txt"
    sink = {"connector.class": "FileStreamSink", "topics": name, "file": str(out)}
    crowd.client.create(f"{name}-sink", sink)
    names.append(f"{name}-sink")
    eventually(lambda: out.exists() and out.read_text(), what="records")
    topics.grow(name, 2)
    topics.produce(name, [b"new"], partition=1)
    eventually(lambda: "new" in out.read_text().splitlines(), within=30, what="the new partition")
