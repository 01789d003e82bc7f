"""Spark's JVM is killed under a worker that moves records."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import psutil
import pytest

from files import lines_of
from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from topics import Topics, numbers_of
from waiting import eventually
from worker_process import WorkerProcess

DEATHS = 2
NOTICE = "Spark's JVM has died; starting another"
"""Once for each death; what becomes of the turns is told in other words."""
START_SECONDS = 180.0


@pytest.mark.heavy
def test_a_jvm_that_is_killed_is_replaced_and_nothing_is_lost_or_repeated(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    """As the system does when memory runs out; no task is blamed for it."""
    limit, out = tmp_path / "limit", tmp_path / "out.txt"
    limit.write_text("100000")
    topics.create(name)
    worker = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
    )
    try:
        worker.start(within=START_SECONDS)
        config = {"limit.file": str(limit), "batch": "5", "pause.ms": "50"}
        worker.client.create(
            f"{name}-source", {"connector.class": "ScriptedSource", "topic": name, **config}
        )
        worker.client.create(
            f"{name}-sink", {"connector.class": "FileStreamSink", "topics": name, "file": str(out)}
        )
        for death in range(1, DEATHS + 1):
            wait_for_more(out)
            kill_spark(worker)
            eventually(partial(told, worker, death), within=START_SECONDS, what=NOTICE)
        wait_for_more(out)
        states = {
            task["state"] for each in ("source", "sink") for task in tasks(worker, f"{name}-{each}")
        }
        assert states == {"RUNNING"}
        limit.write_text("0")
        agree = partial(settled, topics, name, out)
        eventually(agree, within=START_SECONDS, what="sink and topic to agree", every=1)
        assert told(worker, DEATHS)
        assert "the task failed" not in worker.log()
    finally:
        worker.close()
    numbers = numbers_of(lines_of(out), 0)
    assert numbers == list(range(len(numbers)))


def wait_for_more(out: Path) -> None:
    moved = len(lines_of(out))
    more = partial(has_more, out, moved + 50)
    eventually(more, within=START_SECONDS, what="more records", every=0.2)


def has_more(out: Path, than: int) -> bool:
    return len(lines_of(out)) > than


def told(worker: WorkerProcess, deaths: int) -> bool:
    return worker.log().count(NOTICE) == deaths


def tasks(worker: WorkerProcess, connector: str) -> list[dict[str, str]]:
    return list(worker.client.status(connector)["tasks"])


def kill_spark(worker: WorkerProcess) -> None:
    """One that runs leases: those of the JVM before may still write while the next one starts."""
    found = eventually(partial(sparks_of, worker), within=START_SECONDS, what="a JVM with leases")
    [jvm] = found
    jvm.kill()


def sparks_of(worker: WorkerProcess) -> list[psutil.Process]:
    assert worker.process is not None
    family = psutil.Process(worker.process.pid).children()
    return [each for each in family if runs(each, "SparkSubmit") and has_leases(each)]


def has_leases(jvm: psutil.Process) -> bool:
    try:
        return any(runs(child, "penstock.engine.daemon") for child in jvm.children())
    except psutil.Error:
        return False


def runs(process: psutil.Process, program: str) -> bool:
    """Whether that is its program; one that ends meanwhile has none."""
    try:
        return any(program in word for word in process.cmdline())
    except psutil.Error:
        return False


def settled(topics: Topics, topic: str, out: Path) -> bool:
    values = topics.values(topic)
    return bool(values) and lines_of(out) == values
